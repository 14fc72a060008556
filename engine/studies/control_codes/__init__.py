"""Study `control-codes`: examples alone, control codes and tuned prefixes side by side."""
