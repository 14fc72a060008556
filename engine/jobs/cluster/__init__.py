"""Ray as executor of what workers share (`UNDERSTUDY_EXECUTOR=ray`, extra `cluster`).

    crew      Ray started or joined, a process of it each for a helper of this worker
    remote    what a helper does whose computing is done there
    bulk      what is computed there: from texts and settings alone, the workspace is not seen

Ray computes and holds nothing: claims, results and order are shards' of the database, as without it. A process of Ray
that dies is started again and asked again.

Privacy posture: texts of a shard go through Ray's memory, in plain; nothing of it is spilled to a disk by a Ray that is
started here, and an encrypted workspace refuses it. No text stands in names, logs or errors.
"""
