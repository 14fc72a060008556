"""Jobs: what the worker does, and what is asked of it.

    running          starting, cancelling, watching (`Jobs`); planning: what a run would do and promise (`Planning`)
    drafts           what planning answers; progress: how long a job will still take
    sweeps, recipes  several runs fixed beforehand; a run as a file, and made again from it
    packs            prompts that leave so that text can be made elsewhere
    models/          the models of a workspace; doctor: checks of the installation and the workspace
    worker/, tasks/  the process and what a job may do in it; one module a kind of job

May import `engine.store` and below. One more kind of job: a module in `tasks/` and a line in `worker.worker.handlers`.
"""
