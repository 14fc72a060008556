"""Membership attacks on models that someone trains on the synthetic text.

    models, models_scores             language models: findings, and the scores they are made of
    classifiers, classifiers_scores   a classifier, where the text is labelled
    surprisal, shadows                how surprised a model is by records; models trained likewise, for comparison

May import `engine.examine.members`' own `membership` and below. One more attack: a part here, and its line in
`engine.examine.registry`.
"""
