"""The verbs about synthetic text: what it would cost, making it, measuring it.

    budget          methods, guarantee, plan, ledger
    runs, recipes   synthesize, examine, compare, approve, release and what follows; a run as a file, and made again
    sweep, study    several runs fixed beforehand; experiments over several variants
    curve           ε–δ curves of two output tables, or of drawing n-grams from a corpus

May import `engine.workspace` and below, and what stands beside this folder. One more verb: a function here and a line
in `engine.cli.verbs`.
"""
