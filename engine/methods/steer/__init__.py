"""Texts of a model whose hidden states a noisy sum of private differences moves (dp-steer).

public      texts written without private input, and what they fix: centre, spread, scale and basis of each layer
vector      from a noisy sum to what is added to each layer; claim: what the sum promises; parameters; method
"""
