"""Study `evolution-ablation`: DPGA-TextSyn with one thing changed at a time."""
