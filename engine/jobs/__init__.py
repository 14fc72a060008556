"""Jobs: what the worker does, and what is asked of it.

    running       starting, cancelling, watching (`Jobs`); planning: what a run would do, cost and promise (`Planning`)
    language_models, catalogued, hub, prompts, doctor  the other parts of a workspace that need a worker or a model
    worker, task, tasks/  the process, what a job may do, one module a kind of job
    launch, lock, progress  starting the worker and looking after it; models: its cache; marks: what models saw
    accounting    requests of accounting that the worker answers

May import `engine.store` and below. One more kind of job: a module in `tasks/` and a line in `worker.handlers`.
"""
