"""The workspace folder: its layout and key, opening it, files being written, locks, backups, and the ledger's head.

    folder, address        layout, mode bits, key, atomic files; where the database is
    opening, place         what must be there and what is made on first use; a copied folder told from a moved one
    parts, staging, lock   files being written, a release put beside its place first, locks that the system frees
    heads                  where audit log and ledger ended, beside the key
    backup, copying, moving   one zip file; rows from one kind of database to the other; another folder and database
    encryption/, blobs/    a workspace encrypted at rest; one whose finished files lie elsewhere too

May import the database, audit log and ledger's lines of `engine.store`, and `engine.release` and below.
"""
