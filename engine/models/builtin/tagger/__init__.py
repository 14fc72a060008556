"""The taggers of identifiers that ship with the program.

    tagger, tagger_run            the one for English: its network, and texts through it in overlapping windows
    tagger_spans                  from probabilities of words to spans
    word_tagger, word_tagger_run  the one for other languages, likewise

May import what stands beside this folder, and `engine.models` below it. One more tagger: a network and its run here,
its files in `engine.models.builtin.shipped`.
"""
