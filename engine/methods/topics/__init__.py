"""Texts by public topics: one noisy histogram of topic, length and label, and what is written from it (dp-topics).

public      the shipped topics with their key words; histogram: cells, refinement and weights, from noisy counts alone
claim       what the histogram, and a training behind the same conditions, promise; parameters; method
"""
