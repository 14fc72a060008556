"""One module a kind of job; `run(task)` does it and can be stopped and gone on with after every batch."""
