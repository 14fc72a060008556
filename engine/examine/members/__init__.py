"""Can one tell who was in? Membership attacks on the text and on models trained on it, in all and within groups.

    membership, members            what every attack reports, whatever made its scores; which records are members
    blind                          the baseline: can the parts be told apart without any model or synthetic text
    ngrams, neighbours             attacks on the text: its phrases, its nearest records; `x_scores` beside `x`
    trained/                       attacks on models that someone trains on the text
    groups, unit_risk              the same within groups, and units that many attacks flag

May import `engine.methods` and below, and of `engine.examine` what every part is given and its intervals. One more
attack: a part here, and its entry in `engine.examine.registry`.
"""
