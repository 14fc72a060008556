"""The command line: one module a group of verbs; `python -m engine VERB`. `worker` is the worker's process."""
