"""The worker's process: how it starts, what a job may do in it, and what it keeps between jobs.

    worker, task                  the loop that takes jobs, one lane each; what a running job may do
    launch, lock                  starting it, looking after it, stopping it; one a workspace
    sharing, slots                one job among several workers; those beside it on its machine
    spreading                     a run's batches among them
    accounting                    requests of accounting and of voting signals that it answers
    private, used                 private data behind mechanisms; a model at work in a run
    kept_embeddings, part_shelf   embeddings and finished parts of an examination, found again by later jobs

May import `engine.store` and below; `engine.jobs.tasks` where jobs are handed out alone. One more kind of job: a
module in `engine.jobs.tasks` and a line in `worker.handlers` here; one that is shared implements `sharing.Work` and has
a line in `worker.shared` too.
"""
