"""People behind several files: marks of their records, and what marks in common say. May import `engine.corpus`."""
