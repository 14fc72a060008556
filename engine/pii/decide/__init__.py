"""The state of spans (what detection says, thresholds, decisions in their order), and what to look at first."""
