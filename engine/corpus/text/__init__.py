"""What can be done with text alone: no corpus, no model, no decision of a person.

folding         the one form in which private values are compared, whatever the letters and marks
private_values  values in text: as written, re-formatted, joined, cut short, a keystroke off
words           the one rule of what a word is and when two are equal; runs: which runs of words two sides share
windows         hashes of every run of n words; minhash, near_duplicates: how much two texts share
readability     whether a text says something, by public rules alone
language        which languages a corpus is written in
"""
