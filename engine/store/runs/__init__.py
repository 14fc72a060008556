"""What was made and what became of it.

runs          runs and their synthetic records, approvals
examinations  what examinations found, and their tables; seen: examined outputs, which outlive their run
chained       what the lines about a run hold of it; held: runs held against them
releases      policies, the gate, the bundle in the workspace; facts: what the gate is told of a run
words         words that leave with a release, held against private text and numbers
"""
