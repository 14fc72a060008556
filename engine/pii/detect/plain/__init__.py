"""What looks like a name or a number of a person, and identifies nobody.

    plain_words, function_words   second thoughts about the tagger; words that identify nobody on their own
    state_bodies, vitals          courts and ministries of a whole country; readings of clinical shorthand
    register                      scholarly prose that tells of no person

May import the spans of `engine.pii` and where the recognisers' files are. One more kind: a module here, asked in
`engine.pii.detect.detector`.
"""
