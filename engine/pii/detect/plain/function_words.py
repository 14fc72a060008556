"""English words that cannot identify anybody on their own."""

from __future__ import annotations

from collections.abc import Iterable

FUNCTION_WORDS = frozenset(
    """a about after again all also am an and any are aren as at be because been before being both but by can cannot
    could couldn d did didn do does doesn doing don down during each else ever few for from further get go got had hadn
    has hasn have haven having he hello her here hers herself hi him himself his how however i if in into is isn it its
    itself just let like ll m maybe me might more most must my myself never no nor not now of off oh ok okay on once
    only or other our ours out over own perhaps please re really s same shall she should shouldn since so some still
    such sure
    t than thank thanks that the their theirs them then there these they this those though through to too under until up
    upon us ve very was wasn we well were weren what when where whether which while who whom whose why will with won
    would wouldn yes yet you your yours yourself""".split()
)
FORMS_OF_ADDRESS = frozenset("addressee colleague doctor dr madam miss mr mrs ms mx prof professor sir".split())


def only_function_words(words: Iterable[str]) -> bool:
    """Return whether every word, case aside, is a function word; true of no words at all."""
    return all(word.casefold() in FUNCTION_WORDS for word in words)


def found_everywhere(words: Iterable[str]) -> bool:
    """Return whether every word, case aside, is a function word or a form of address; true of no words at all.

    Such a value may well be somebody's (the surname "An", the initials "DR"), but to meet it again says nothing.
    """
    return all((word := given.casefold()) in FUNCTION_WORDS or word in FORMS_OF_ADDRESS for given in words)
