"""Epsilon-delta curves of output distributions (log Bayes factors) and of attacks, with bands over the whole."""
