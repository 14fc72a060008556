"""Private text as an immutable table.

    readers/      one file format a file; `readers.read_table` chooses by content
    columns/      which column plays which part, and what is read from each
    build         checks every rule, fixes ids, split and gold spans once and for all
    split, keyed  which records methods may use, by keyed order
    statistics    a corpus in numbers; description: in public words; label_rules: which labels a public list may hold
    people/       the same people elsewhere: population (whole texts), marks (runs of words, ids), short and equal marks
    text/         words, folding, shingles, private values, readability, language
    samples       the made-up corpora that ship with the program; names: the pools that surrogates draw from

May import `engine.errors` and `engine.assets`. One more format: a file in `readers/` and a line in its registry.
"""
