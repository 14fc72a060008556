"""The verbs about what a person does before a release.

    checks     a random sample of records to read, and rules that a person lets pass
    intruder   a person says within a time box whom a random sample of approved texts is of
    assess     the assessment file of a run, or a form to fill in for it

May import `engine.workspace` and below, and what stands beside this folder. One more verb: a function here and a line
in `engine.cli.verbs`.
"""
