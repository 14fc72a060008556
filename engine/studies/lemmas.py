"""What a study counts: words as they are written (forms), their first forms (lemmas), or both.

A lemma is made from a form alone, by one public rule for the whole corpus (`engine.pii.languages.lemmas`), so one
drawn lemma tells at most what the form told: standard δ can only fall. Strict δ at a given ε may rise, since outputs
that are merged get a common loss. Where nothing installed knows the language, forms are counted and a table says so.

Privacy posture: lemmas stand for private words and live in memory; the table holds a language, shares and numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.corpus.text.language_names import language_name
from engine.errors import UserError
from engine.pii.languages.lemmas import THEN, Lemmatiser, language_of, lemmatiser, no_lemmas, told_by

Words = Literal["forms", "lemmas", "both"]
FORMS, LEMMAS = "forms", "lemmas"
DESCRIPTION = (
    "What is counted: words as written (forms), their first forms (lemmas), or both side by side, where something "
    "installed tells the language's lemmas."
)
LANGUAGE = "Language of the lemmas, as a code such as et; auto: the one most letters are in."
CODE = "^(auto|[a-z]{2,3})$"
_EVERY = 500  # forms between two reports


@dataclass(frozen=True)
class Counted:
    """What is counted.

    Args:
        kinds: `forms`, `lemmas` or both, in this order. lemmatiser: where lemmas are among them. language: code.
        share: of the letters looked at that are in that language. missing: why there are no lemmas, or nothing.
    """

    kinds: tuple[str, ...]
    lemmatiser: Lemmatiser | None = None
    language: str = ""
    share: float = 1.0
    missing: str = ""

    def table(self, forms: int = 0, lemmas: int = 0, changed: float = float("nan")) -> pd.DataFrame:
        """Return a row a kind, and one for lemmas that there are none of.

        Args:
            forms, lemmas: distinct ones. changed: share of words whose lemma is another word than they are.
        """
        rows: list[dict[str, object]] = []
        none: dict[str, object] = {"language": "", "by": "", "share": float("nan"), "changed": float("nan")}
        if FORMS in self.kinds:
            rows.append({"words": FORMS, **none, "distinct": forms, "said": SAID[FORMS]})
        if self.lemmatiser is not None:
            told = {"language": self.language, "by": self.lemmatiser.by, "share": self.share, "changed": changed}
            rows.append({"words": LEMMAS, **told, "distinct": lemmas, "said": self._said(changed)})
        if self.missing:
            rows.append({"words": LEMMAS, **none, "language": self.language, "distinct": 0, "said": self.missing})
        return pd.DataFrame(rows)

    def _said(self, changed: float) -> str:
        assert self.lemmatiser is not None
        text = f"Counted are lemmas, first forms of words ({language_name(self.language)}, by {self.lemmatiser.by}): "
        text += "where a word is spoken of, it is a lemma."
        if changed == changed:
            text += f" {changed:.0%} of the words are another form than their lemma; those it does not know stay."
        if self.share < 0.9:
            text += f" Only {self.share:.0%} of the letters looked at are in this language."
        return text


SAID = {FORMS: "Counted are words as they are written (word forms)."}


def counted(texts: Sequence[str], words: Words, language: str) -> Counted:
    """Return what is counted of these texts.

    Raises:
        UserError: lemmas alone are asked for and nothing installed tells them.
    """
    if words == FORMS:
        return Counted((FORMS,))
    code, share = language_of(texts, language)
    if told_by(code) is None:
        if words == LEMMAS:
            raise UserError(f"words: {no_lemmas(code).removesuffix(THEN)}.")
        return Counted((FORMS,), None, code, share, no_lemmas(code))
    kinds = (LEMMAS,) if words == LEMMAS else (FORMS, LEMMAS)
    return Counted(kinds, lemmatiser(code), code, share)


def lemmas_of(forms: Sequence[str], by: Lemmatiser, told: Callable[[int, int], None]) -> list[str]:
    """Return the lemma of each form.

    Args:
        told: told forms done and in all; may raise to stop.
    """
    found = []
    for at, form in enumerate(forms):
        if at % _EVERY == 0:
            told(at, len(forms))
        found.append(by(form))
    return found


def share_changed(forms: Sequence[str], lemmas: Sequence[str], times: NDArray[np.int64]) -> float:
    """Return the share of words whose lemma is another word than they are.

    Args:
        times: how often each form occurs, (f,).
    """
    other = np.fromiter((a != b for a, b in zip(forms, lemmas, strict=True)), bool, len(forms))
    return float(times[other].sum() / max(1, times.sum()))


def of_kind(tables: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Return the rows of one kind; those of a table of an earlier edition are of forms."""
    if "words" not in tables:
        return tables if kind == FORMS else tables.iloc[:0]
    return tables[tables["words"] == kind]


def kinds_in(table: pd.DataFrame) -> list[str]:
    """Return the kinds that a table has, forms first."""
    return [kind for kind in (FORMS, LEMMAS) if len(of_kind(table, kind))]
