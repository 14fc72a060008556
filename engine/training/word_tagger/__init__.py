"""Training of the tagger for other languages: `python -m engine.training.word_tagger --data FOLDER --out FOLDER`."""
