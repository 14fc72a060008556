"""Prompts: what a method wants said, in the words that a model understands.

domains   the templates and public word lists of a domain
operators_builtin, operators_instruct, operators_plain, operators_rewrite  one operator set a kind of model
templates what a custodian changed, checked and versioned; negation: what a text denies, kept
"""
