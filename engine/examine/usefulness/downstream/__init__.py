"""What can be learned from it? Trained on the text, asked about people that nobody used.

    downstream, downstream_scores   a classifier of labels: its findings, and the scores they are made of
    tasks                           the same for each column that was kept at import
    extraction                      an extractor of details
    language_model                  a language model's next words
    label_agreement                 whether synthetic labels fit their text, in the eyes of a classifier of real records

May import `engine.examine.usefulness`'s own base and below. One more learner: a part here, and its line in
`engine.examine.registry`.
"""
