"""The verbs about the workspace and the program themselves.

    upkeep               audit, backup, restore, doctor, demo
    encryption, moving   encrypt, decrypt, rekey; to another folder and another database
    people               who may do what where several people sign in
    working              the worker in a terminal, and how many share a job
    sbom                 what the program is made of

May import `engine.workspace` and below, and what stands beside this folder. One more verb: a function here and a line
in `engine.cli.verbs`.
"""
