"""A corpus on the pages: what it consists of, its row, its detector.

    corpus_facts, corpus_rows     figures and computed warnings; one row a corpus on the first page
    called                        what its records are called, as a person declared them
    samples, nothing              cards of the made-up sample corpora; what a page says where there is no corpus
    detector, detector_patterns   which recognisers run and how sure they must be; custom patterns

May import what stands beside this folder. One more fact: a function in `corpus_facts`.
"""
