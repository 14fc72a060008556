"""Private evolution: candidates from public prompts, noisy votes of private records (AUG-PE; DPGA-TextSyn).

claim   what noisy votes promise; common: writing in batches; rounds: the loop; clusters, kept_votes: its parts
aug_pe, dpga (dpga_run, dpga_stages, dpga_elite)  the two methods
"""
