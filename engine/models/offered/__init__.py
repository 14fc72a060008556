"""Open models that the app proposes: what there is, and what suits this machine.

offers   the list in assets/models/catalogue.yaml, checked; machine: memory and devices, told without loading anything
suggest  what fits, how long it would take, and which to begin with
"""
