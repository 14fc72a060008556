"""Finished files of a workspace that lie elsewhere too: a folder or object store that several machines reach.

    place    where: any URL of fsspec; what is put there is sealed first
    here     which version of each file lies in this machine's folder
    keeper   which version of each is in force; putting, bringing here, removing
    names    which files those are, and what they are called to a person

`workspace.toml` names the place beside the database: `blobs = "s3://bucket/prefix"`. The folder is then this machine's
copy, and work in progress. A file is put there once it has its name here and before the row that speaks of it is
committed, under a key of its own that nothing is ever written to twice; a row in the database says which key is in
force. So a kill leaves a key that no row in force names, which whoever opens the workspace next removes, and never a
row without its file. What is read is brought here where it is not, or is an earlier version.

May import what stands beside this folder, the database, and `engine.at_rest` and below.
"""
