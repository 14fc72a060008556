"""What trains the shipped models. Nothing that runs for a custodian imports this package.

`sources` reads the public and made-up text of the language model, `exercises` turns each document into
`(kind, label, key words, length) -> text`, `vocabulary` trains its byte-level vocabulary, `encoder_start` is the net
that starts from the sentence encoder's weights, `__main__` prepares, trains and scores.
"""
