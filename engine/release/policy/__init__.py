"""What must be true before approved records may leave, and whether it is.

    policy, policy_file   the rules, and reading them strictly from YAML
    gate, verdicts        findings and facts held against them, line by line
    missed, intruder      what a policy asks about identifiers that nobody found, and about an intruder with a motive
    waivers, audience     rules that a person lets pass; to whom a run's text may go by what was measured
    second                whose name stands beside a release, and how it is known
    reach                 what a planned run could be released under, by what is known before it is made

May import `engine.release.strict_yaml`, and `engine.examine` and below. One more rule: its name in `policy`, its line
in `gate`, its bound in the files of `assets/policies`.
"""
