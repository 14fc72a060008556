"""Differential privacy: what mechanisms did, what that amounts to, and what is promised.

    events      what a mechanism did, as data: the events that accounting composes and the ledger keeps
    guarantee   what a method promises, as data
    ledger      what a population's budget means; filter: runs chosen after seeing earlier ones stay within it
    accounting/ events into (epsilon, delta)
    noise/      every draw that protects someone, and the only way a `dp` method touches records

May import `engine.corpus`. One more mechanism: its noise in `noise/`, its event in `events`, its distribution in
`accounting/pld_events`, and a line in the tests that hold noise drawn against noise claimed.
"""
