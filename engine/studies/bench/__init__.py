"""What studies share that run several settings several times: one way to run, measure and compare them.

    bench, rerun           runs, measures, resumes and refuses; one registered method run again inside a study
    parameters, settings   how much, how often, measured how; a method's parameters as one line of text
    measured               what one output is worth and gives away
    compared               tables over repeats: means with intervals, differences, words
    figures, error_bars    a measure along an axis, repeats side by side, and their error bars

No study by itself. May import `engine.studies.base` and what stands beside it, and `engine.jobs` and below. One more
measure of an output: an entry in `measured`.
"""
