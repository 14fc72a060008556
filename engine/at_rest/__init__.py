"""Encryption of a workspace at rest: its key, the header that wraps it, and the one seam that files go through.

header     `encryption.json`: the data key, wrapped under a passphrase or a key file
keys       the data keys of this process, by workspace, and what is derived from them
sealed     the format of an encrypted file
versions   which writing of each file is the one in force
elsewhere  a workspace whose finished files lie elsewhere too
files      what reads and writes below a workspace calls these, and need not know whether it is encrypted

Stands beside `errors`: whoever writes private data calls it, from `dp` upwards. The database is encrypted by
`engine.store.disk.encryption.cipher`; a workspace is converted by `engine.store.disk.encryption`.

Not covered: memory of a running program, swap, a program that is unlocked, and whoever knew an earlier passphrase and
kept a copy of the header.
"""
