"""Recognise scholarly prose that tells of no person: abstracts, methods, theorems.

In such text a lone capitalised word is a theorem's, a species' or a program's name far more often than a person's
who is to be protected. A text counts as scholarly where at least `SHARE` of its words and `LEAST` different ones
are words of that trade, and no word tells of a person (he, she, Mr, born, lives …); short texts never do.

Privacy posture: works on one text in memory; returns a yes or no.
"""

from __future__ import annotations

import regex

WORDS = 40  # fewer give no evidence
LEAST = 4
SHARE = 0.03
WORD = regex.compile(r"\p{L}+")
PERSONAL = regex.compile(
    r"\b(?:he|she|his|hers?|him|himself|herself|mr|mrs|ms|dr|my|i|me|born|wife|husband|mother|father|son|daughter"
    r"|sister|brother|applicant|defendant|claimant|plaintiff|witness|customer|lives?|lived|resid(?:es|ed|ing)"
    r"|complain(?:s|ed)|admitted|discharged|pt|mom|dad|aged|y/?o|dear|regards|thanks|please|you|your)\b",
    regex.I,
)
TRADE = frozenset(
    """abstract activity algorithm algorithms analyse analysed analyses analysis analytic analyze analyzed approach
    approaches approximation arbitrary assay assays assumption asymptotic based bound bounds calculated calculation
    calculations cell cells characterise characterize characterized coefficients compared comparison compute computed
    computation computational conjecture consider consistent constraints correlated correlation correlations data
    dataset datasets define defined demonstrate demonstrated demonstrates density dependence derive derived distribution
    distributions dynamic dynamics effect effects efficient empirical energy equation equations estimate estimated
    estimates estimation evaluate evaluated evolution experiment experimental experiments expression field fields finite
    framework function functions gene genes genetic genome genomic graph graphs hypothesis investigate investigated
    linear mechanism mechanisms method methods model models molecular networks neural nonlinear novel numerical
    observables observations obtain obtained optimal optimization paper parameter parameters performance phase
    phenomena prediction predictions problem proof propose proposed protein proteins prove proved quantum regime
    regression results sample samples sequence sequencing show shown shows signal significantly simulation simulations
    solution solutions space species spectral spectrum statistical structure structures studied study symmetry system
    systems technique techniques temperature theorem theoretical theory transition variables vector we""".split()
)


def scholarly(text: str) -> bool:
    """Return whether a text is scholarly prose in which no word tells of a person."""
    words = [w.casefold() for w in WORD.findall(text)]
    if len(words) < WORDS or PERSONAL.search(text):
        return False
    found = [w for w in words if w in TRADE]
    return len(set(found)) >= LEAST and len(found) >= SHARE * len(words)
