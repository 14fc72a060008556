"""What can be said of a planned run before any private text is looked at.

    signal, sizes     what noisy votes can tell apart; how large a corpus has to be
    verdict           one line: is there signal above the noise, and what would it take
    advice            whether the budget can buy anything, in words
    budget_figures    the question and the answer as the Plan page shows them

May import the families' parameters and claims, and `engine.pii` and below; reads public quantities alone. One more
piece of advice: a function in `advice`.
"""
