"""What ships with the program: language model, tagger, sentiment model, sentence encoder.

shipped         which files lie where, told without loading anything
language_model  the generator; format, tokenizer: its control tokens and vocabulary; decoder/: its network
tagger/         the taggers of identifiers, for English and for other languages
sentiment, sentiment_sentences, minilm, embedder, ngram_model, everyday  the smaller ones
"""
