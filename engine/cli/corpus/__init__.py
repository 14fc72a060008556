"""The verbs about text that comes in: private text, and text made elsewhere.

    corpora, describe     import, corpora, labels, detect, delete; public words about what a corpus holds
    mentioned, languages  who is named in many units' records; what each language has and has not
    pools                 text made elsewhere comes in, prompts for it go out

May import `engine.workspace` and below, and what stands beside this folder. One more verb: a function here and a line
in `engine.cli.verbs`.
"""
