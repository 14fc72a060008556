"""Spot checks: a random sample of records read to the end, by one person and in part by a second one.

`draw` takes the sample, `reading` holds what is known of each of its records, `second` is the second reader's view and
the settling of differences, `chained` holds the rows against the audit log, `checks` is the part of the workspace that
pages and the command line talk to.

Privacy posture: rows hold positions, labels and names of readers; texts are read when they are shown.
"""
