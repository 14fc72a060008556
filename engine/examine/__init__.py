"""Examinations: scores, findings with intervals, and what they mean. A verdict never comes from one number alone.

    registry     every part in the order in which it is run; battery runs them; examination: the whole
    base, samples, prepare, tables    what every part is given
    findings/, measures               what it gives back, and how that reads
    keeping, expected, each, compare  parts kept until all are done, what they take, runs side by side
    repeats/     copies, near copies, closeness        values/   private values and canaries that come out
    members/     membership attacks                    persons/  words, style, sets and linked details of people
    guesses/     missing attributes                    curves/   epsilon-delta curves of outputs and attacks
    usefulness/  how well the text stands in           stats/    intervals, bands, ROC curves, many looks

Where there are two files, `x.py` is the part with its findings and `x_scores.py` the scores it is made of. May import
`engine.methods` and below. One more measure: a part in the folder of its question, an entry in `registry`, its
wording in `measures.yaml`; the contract suite runs over it.
"""
