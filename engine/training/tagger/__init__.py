"""Training of the tagger: `python -m engine.training.tagger --data FOLDER --out FOLDER [--without-tab]`."""
