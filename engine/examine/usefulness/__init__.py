"""How well does the text stand in for the private one? Always beside real against real at the same n.

    part, metrics, base   every metric for synthetic, for real against real, for unrelated text; one metric's form
    sides, unrelated      equal samples, and the text that metrics must be clearly better than
    meaning/              about the same things: sentence embeddings, topics, the map of texts
    wording/              written alike: words, phrases, lengths, repetition, readability
    mixture/              kinds in the same shares: identifying details, sentiment
    downstream/           what classifiers, extractors and language models learn from it
    cost, iterations      what a run cost, and what its rounds moved towards

May import `engine.methods` and below, and of `engine.examine` what every part is given. One more metric: a file in the
folder of its thought and a line in `metrics`; one more part: an entry in `engine.examine.registry`.
"""
