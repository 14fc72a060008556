"""Models: contracts, the built-in language model, tagger and embedder."""
