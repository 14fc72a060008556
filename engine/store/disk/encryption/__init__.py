"""A workspace encrypted at rest: its database, and the step from plain to encrypted or back.

    encryption   encrypting, decrypting, changing what opens it
    switch       the step itself, decided by one file and finished by whoever comes next
    cipher       the database under a key derived from the workspace's
    versions     which writing of each file is in force; an earlier one that was put back
header_age   an earlier header that was put back, and with it an earlier passphrase

May import what stands beside this folder, and `engine.at_rest` and below.
"""
