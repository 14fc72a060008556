"""What membership attacks are called on Privacy: what the attacker goes by, in plain words.

“It” and “its” are the record, or the person's records, of which the attacker asks whether they were used. The name an
attack has in the field stands beside it in the tables that show every column, and where the pointer rests on a chart.
"""

from __future__ import annotations

import re

import pandas as pd

FIELD = "technical"  # the column with the name in the field
IN_FIELD = "Name in the field"
NEIGHBOURS = re.compile(r"neighbours_(jaccard|cosine)_(\d+)")
PLAIN = {
    "blind": "Words alone, without the text",
    "ngram": "The text makes its phrases likely",
    "ngram_window": "The text makes ten of its words in a row likely",
    "word_probe": "Its rare words stand in the text",
    "stylometric": "The text has the person's style",
    "set_membership": "All records of the person together",
    "linked_details": "Details of the person stand together",
    "mia_ppl": "A model of the text finds it likely",
    "mia_refer": "Likelier than to a public model",
    "mia_lira": "Likelier than to models of other text",
    "mia_zlib": "Likely for how repetitive it is",
    "mia_mink": "Even its least likely words are likely",
    "mia_minkpp": "Its least likely words, beside others",
    "mia_recall": "Unused text before it changes its odds",
    "mia_rmia": "Likelier than other records",
    "mia_entropy": "A classifier is sure of it",
    "mia_mentropy": "A classifier is sure of its label",
    "mia_confidence": "A classifier finds its label likely",
}


def plainly(attack: str, title: str) -> str:
    """Return what an attack is called; `title` for one that is not known here."""
    found = NEIGHBOURS.fullmatch(attack)
    if found is None:
        return PLAIN.get(attack, title)
    one = found[2] == "1"
    who = "Nearest text" if one else f"{found[2]} nearest texts"
    if found[1] == "jaccard":
        return f"{who} {'shares' if one else 'share'} its words"
    return f"{who} {'is' if one else 'are'} alike in meaning"


def named(attacks: pd.DataFrame) -> pd.DataFrame:
    """Return a table of attacks with plain titles, and their names in the field in a column of its own."""
    titles = [
        plainly(str(attack), str(title)) for attack, title in zip(attacks["attack"], attacks["title"], strict=True)
    ]
    result = attacks.copy()
    result[FIELD], result["title"] = attacks["title"], titles
    return result
