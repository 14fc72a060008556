"""Events into (epsilon, delta): the accountants that methods and the ledger ask.

accountant   what is asked; accounts: answers as data
closed_form  Gaussian composition, exact and light; exact: whatever else there is, by loss distributions
pld, pld_events  privacy-loss distributions; rdp: the cross-check and the ledger's order
delta_rules  what delta means beside the number of units
"""
