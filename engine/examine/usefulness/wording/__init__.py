"""Is it written alike? Words, phrases, lengths, repetition and whether it can be read at all.

    ngrams, lengths, features    sequences of words, how long texts are, what is counted once a text
    diversity, duplicates        how much the texts of one sample repeat each other
    readable, reference_loss     parts with findings: readability by public rules, surprise of a model that saw none

May import `engine.examine.usefulness`'s own base and below. One more metric: a file here, and its line in
`engine.examine.usefulness.metrics`; one more part: its line in `engine.examine.registry`.
"""
