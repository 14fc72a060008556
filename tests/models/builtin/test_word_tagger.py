"""The tagger for other languages: thresholds of a language of its own."""

from __future__ import annotations

import numpy as np

from engine.models.builtin.tagger.tagger import TYPES
from engine.models.builtin.tagger.word_tagger_run import load_word_tagger

TEXT = "Da hat sich Wendelgard beim Ansuchen des Pruxmarer geweigert, und Grubental lag im Nebel."


def test_a_language_may_have_thresholds_of_its_own(monkeypatch) -> None:
    tagger = load_word_tagger()
    low, never = tagger.thresholds.copy(), tagger.thresholds.copy()
    low[TYPES.index("PERSON")], never[:] = 0.001, 1.0
    monkeypatch.setattr(tagger, "of_language", {"xx": low, "yy": never})
    plain, more, none = tagger.tag([TEXT] * 3, languages=["et", "xx", "yy"])
    assert plain == tagger.tag([TEXT] * 3)[0]
    assert none == []
    accepted = [sum(s.end - s.start for s in row if s.score >= 0.5) for row in (plain, more)]
    assert accepted[0] < accepted[1]


def test_german_takes_a_lower_threshold_for_persons_and_keeps_the_others() -> None:
    tagger = load_word_tagger()
    (code, own), *others = tagger.of_language.items()
    assert (code, others) == ("de", [])
    persons = TYPES.index("PERSON")
    assert own[persons] < tagger.thresholds[persons]
    assert np.array_equal(np.delete(own, persons), np.delete(tagger.thresholds, persons))
