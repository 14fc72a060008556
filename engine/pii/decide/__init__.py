"""What a decision means for a span and what to look at first (`rules`); how much detection missed (`missed`)."""
