"""Writes the name and place pools of the language packs: `python -m engine.training.languages --data FOLDER`."""
