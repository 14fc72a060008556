"""Can one tell who was in? Membership attacks on the text and on models trained on it, in all and within groups."""
