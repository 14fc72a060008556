"""Noise: every draw that protects someone comes from here, out of the system's entropy.

mechanisms    Laplace, Gaussian, thresholds, sampled exactly
private, private_data  records behind mechanisms, capped a unit: the only way a `dp` method touches them
outputs       what was drawn, kept with what was asked and what it cost
votes, label_list, prediction, train  the statistics that mechanisms are put on
noiseless     the same without noise, for studies: what a method would give if privacy cost nothing
"""
