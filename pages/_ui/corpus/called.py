"""What the records of a corpus are called: the last word of the kind of document that a person declared, else records.

How to use: `said(noun(workspace, corpus_id), sentence)` on an English sentence that speaks of records; what stands in
quotation marks is a name and stays. Nothing is read from the text: the kind is public by declaration.
"""

from __future__ import annotations

import re

import engine

RECORD = ("record", "records")
KINDS = {
    one: one + "s"
    for one in (
        "abstract article call case comment complaint consultation conversation decision dialogue document email "
        "e-mail entry essay file form interview judgment judgement letter log memo message narrative note notice "
        "opinion order petition post prescription question referral report request response review ruling statement "
        "story summary testimony text ticket transcript tweet verdict"
    ).split()
}
KINDS |= {one: one[:-1] + "ies" for one in KINDS if one.endswith("y") and one != "essay"}
"""What documents are called, one and several, of the kinds that are told here."""
QUOTED = re.compile(r"(“[^”]*”)")
WORD = re.compile(r"(?<!medical )\brecord(s?)\b")


def noun(workspace: engine.Workspace, corpus_id: str) -> tuple[str, str]:
    """Return what one record is called and what several are."""
    declared = workspace.descriptions.get(corpus_id)
    last = "" if declared is None else declared.kind.split()[-1].casefold()
    return (last, KINDS[last]) if last in KINDS else next(((o, m) for o, m in KINDS.items() if m == last), RECORD)


def said(called: tuple[str, str], sentence: str) -> str:
    """Return a sentence with its records called by their own word."""
    one, many = called
    parts = QUOTED.split(sentence)
    parts[::2] = [WORD.sub(lambda found: many if found[1] else one, part) for part in parts[::2]]
    return "".join(parts)
