"""What examinations give back, and how that reads.

    findings, make, part   one number with interval and reference; building it; what one part adds to the whole
    verdict, sentence      what the findings mean for privacy, in five plain sentences
    uses                   for which uses a text suits, in a table of six
    risk, run_notes        in which order a person looks at records; what a run noted on its way

May import `engine.examine.measures`, intervals and the list of metrics, and `engine.methods` and below; no part. One
more sentence of a verdict: a function in `verdict`; one more use: a row in `uses`.
"""
