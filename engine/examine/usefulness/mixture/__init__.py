"""Are kinds mixed as in the real text? Shares of details and of sentiment.

    mixes              total variation of two mixtures with its interval
    entity_mix, tone   parts with findings: types of identifying details, sentiment

May import `engine.examine.usefulness`'s own base and below. One more mixture: a part here that calls `mixes`, and its
line in `engine.examine.registry`.
"""
