"""Who found a finding, in words: a person, the file, the tagger, or the recogniser by its title."""

from __future__ import annotations

from engine import recognisers
from pages._ui.language import mark, tr

OWN = {
    "custodian": mark("marked by a person"),
    "gold": mark("came with the file"),
    "tagger": mark("built-in tagger"),
    "spacy": mark("local language model"),
    "known": mark("the list of known identifiers"),
    "deny": mark("the list of words that always go"),
    "custom": mark("a pattern of your own"),
}


def found_by() -> dict[str, str]:
    """Return what each source of a finding is called, by its id; titles of recognisers are in English."""
    return {entry.id: f"“{entry.title}”" for entry in recognisers()} | {name: tr(said) for name, said in OWN.items()}
