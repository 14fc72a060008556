"""The budget of the people behind corpora.

ledger        what the ledger page asks; statement: what lines say to a reader
lines         what is written, chained; reservations: before a run and after it
outputs       mechanism outputs of a run, kept with the ledger's line before anything uses them
accounts      answers of accounting, by the digest of their public request
populations   who shares one budget; recognition, short_recognition, equal_recognition: what records tell of it
unknown       what a restored ledger cannot know; fitted: weights
"""
