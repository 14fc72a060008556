"""The command line (`python -m engine VERB`): a module a group of verbs, all named in `verbs`.

`worker` is the worker's process.
"""
