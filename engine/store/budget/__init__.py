"""The budget of the people behind corpora.

ledger        what the ledger page asks; lines: what is written, chained; reservations: before a run and after it
outputs       mechanism outputs of a run, kept with the ledger's line before anything uses them
accounts      answers of accounting, by the digest of their public request
populations, recognition  who shares one budget; unknown: what a restored ledger cannot know; fitted: weights
"""
