"""The command line (`python -m engine VERB`): a module a group of verbs, all named in `verbs`.

    corpus/      text that comes in
    runs/        synthetic text: what it would cost, making it, measuring it
    release/     what a person does before a release
    workspace/   the workspace and the program; models: language models
    terminal, arguments, named, named_labels   what every verb needs
    worker       the worker's process, which is no verb

May import `engine.workspace` and below. One more verb: a function in the folder of its thought, its line in `verbs`,
and its words in `engine.__main__`.
"""
