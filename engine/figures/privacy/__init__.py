"""Figures of what a release gives away, and of what is proven of it.

    privacy, near_copies           leakage beside holdout and baseline; closeness and copies
    membership, groups             attacks on who was in: ROC curves, areas, the same within groups
    inference, linkage             guessed attributes; people singled out by linked details
    lbf, proof_attack, thresholds  ε–δ curves, what is proven beside what attacks achieved, filters under attack

May import the figures' own base and `engine.examine` and below. One more figure: a function here that returns a
`Figure`.
"""
