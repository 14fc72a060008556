"""Fitting networks to records.

fit             the one loop: steps, what is kept of them, the order of records; the others are what it drives
learner, tuner, tunable, tuning_rows  prompted records, with the gradient of each document where noise needs it
finetune, finetune_nets  a whole network, epoch by epoch
prefix_tuning, prefix_nets  virtual tokens in front of a frozen network
small_causal, stacked  many small networks at once, for shadow models: a loop of its own, each network by its schedule
"""
