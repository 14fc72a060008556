"""Jobs: what the worker does, and what is asked of it.

    running       starting, cancelling, watching (`Jobs`); planning: what a run would do, cost and promise (`Planning`)
    drafts        what planning answers
    models/       the models of a workspace; doctor: checks of the installation and the workspace
    worker, task, tasks/  the process, what a job may do, one module a kind of job
    launch, lock, progress  starting the worker and looking after it
    accounting    requests of accounting that the worker answers

May import `engine.store` and below. One more kind of job: a module in `tasks/` and a line in `worker.handlers`.
"""
