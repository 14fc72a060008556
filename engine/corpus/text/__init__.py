"""What can be done with text alone: no corpus, no model, no decision of a person.

folding         the one form in which private values are compared, whatever the letters and marks
private_values  values in text: as written, re-formatted, joined, cut short, a keystroke off
windows         hashes of every run of n words; minhash, near_duplicates: how much two texts share
readability     whether a text says something, by public rules alone
language        which languages a corpus is written in
"""
