"""The audit log and the ledger looked at as logs: what happened to one that does not hold, and a file of one.

`breaks` tells what was done to a chain; `file` writes the audit log so that its holder can check it alone, and reads
such a file; `check` holds both logs of a workspace, also of a damaged one, without writing a line. `about` reads the
lines about a subject; `rows` holds rows of other tables against the lines of the acts that left them.
"""
