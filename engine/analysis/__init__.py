"""From scores to findings with intervals."""
