"""The table of uses: the worst finding decides, too few texts are unknown, and no line contradicts another."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from engine.examine.findings.findings import Finding
from engine.examine.findings.uses import (
    TICK,
    USES,
    WARN,
    Use,
    clearly_lost,
    headline,
    lost,
    tells_nothing,
    unreadable,
    use_table,
)
from engine.examine.measures import MEASURES

BEST: dict[str, tuple[float, float]] = {  # name: real, unrelated
    "length_distance": (0.01, 1.5), "js_1gram": (0.10, 0.7), "js_2gram": (0.6, 0.98),
    "embedding_similarity": (0.41, 0.1), "mauve": (0.98, 0.01), "kid": (0.0, 0.5),
    "topic_shift": (0.1, 0.9), "next_word": (0.3, 0.02),
}  # fmt: skip
ALONE = {"self_bleu": 0.2, "distinct_2": 0.6}


def finding(name: str, reference: Any, value: float, half: float | None = 0.0, **settings: Any) -> Finding:
    measure = MEASURES[name]
    low, high = (None, None) if half is None else (value - half, value + half)
    return Finding(name, value, low, high, 500, reference, measure.measure, measure.direction, measure.group, settings)


def examined(
    loss: dict[str, float] | None = None, *, half: float = 0.0, readable: float | None = 0.95, texts: int = 500,
    tokens: int = 50_000, classifier: bool = True,
) -> list[Finding]:  # fmt: skip
    """Return findings where each measure lost a share of its way; those not named lost nothing."""
    loss = loss or {}
    rows = []
    for name, (real, far) in BEST.items():
        size = {"tokens_a_side": tokens} if name == "next_word" else {"texts_a_side": texts}
        rows += [finding(name, "train", real + loss.get(name, 0.0) * (far - real), half * abs(far - real), **size),
                 finding(name, "real", real), finding(name, "unrelated", far)]  # fmt: skip
    for name, real in ALONE.items():
        rows += [finding(name, "train", real * (1 + loss.get(name, 0.0)), half * real, texts_a_side=texts),
                 finding(name, "real", real)]  # fmt: skip
    if classifier:
        gap = 0.5 * loss.get("classifier_f1", 0.0)
        rows += [finding("classifier_f1", "train", 0.7 - gap, texts_trained_on=texts),
                 finding("classifier_f1", "real", 0.7), finding("classifier_gap", "real", gap, 0.5 * half),
                 finding("classifier_majority", "none", 0.2)]  # fmt: skip
    if readable is not None:
        rows += [finding("readable", "none", readable, 0.01), finding("readable", "baseline", 0.95)]
    return rows


def marks(findings: list[Finding]) -> dict[str, str]:
    return {purpose.key: use.mark for purpose, use in zip(USES, use_table(findings), strict=True)}


def test_as_good_as_real_text_suits_all_and_nothing_measured_is_unknown():
    assert set(marks(examined()).values()) == {"tick"}
    assert set(marks([]).values()) == {"unknown"}
    assert all("not measured" in use.sentence for use in use_table([]))


def test_uses_are_judged_by_their_worst_finding():
    found = marks(examined({"js_2gram": 0.2, "mauve": 0.9, "classifier_f1": 0.3, "self_bleu": 0.2}))
    assert found == {"statistics": "tick", "software": "warning", "classifier": "warning", "teaching": "warning",
                     "language_model": "tick", "search": "cross"}  # fmt: skip
    (search,) = [use for use in use_table(examined({"mauve": 0.9})) if use.use.startswith("Searching")]
    assert search.finding == "mauve"
    assert search.lost == pytest.approx(0.9)


def test_text_that_cannot_be_read_suits_neither_for_teaching_nor_for_a_model_nor_for_search():
    found = marks(examined(readable=0.2))
    assert found == {"statistics": "tick", "software": "warning", "classifier": "warning", "teaching": "cross",
                     "language_model": "cross", "search": "cross"}  # fmt: skip
    for use in use_table(examined(readable=0.2))[1:]:
        assert "can be read" in use.sentence or use.finding == "readable"


def test_a_language_model_is_no_tick_where_word_pairs_or_variety_are_a_cross():
    for name, part in (("js_2gram", 0.9), ("distinct_2", -0.9)):
        use = next(u for u in use_table(examined({name: part})) if "language model" in u.use)
        assert (use.mark, use.finding) == ("warning", name)
        assert "But" in use.sentence


def test_more_variety_than_real_text_needs_care_and_rules_nothing_out():
    marks = {part: {u.use.split(",")[0]: u for u in use_table(examined({"distinct_2": part}))}["Teaching"]
             for part in (-0.9, 0.9)}  # fmt: skip
    assert (marks[-0.9].mark, marks[0.9].mark) == ("cross", "warning")
    assert "so above it" in marks[0.9].sentence
    both = use_table(examined({"distinct_2": 0.9, "self_bleu": 0.9}))
    assert next(u for u in both if u.use.startswith("Teaching")).mark == "cross"


@pytest.mark.parametrize(
    ("options", "key", "told"),
    [({"texts": 30}, "statistics", "rests on 30 texts; 50 are needed"),
     ({"texts": 80}, "search", "100 are needed"),
     ({"tokens": 3000}, "language_model", "rests on 3,000 tokens; 10,000 are needed"),
     ({"half": 0.5}, "classifier", "about 8,000 are needed"),
     ({"half": 3.0}, "statistics", "too close together in this measure for more texts to settle it"),
     ({"classifier": False}, "classifier", "not measured"), ({"readable": None}, "teaching", "not measured")],
)  # fmt: skip
def test_too_few_texts_are_unknown_with_what_is_needed(options, key, told):
    (use,) = [u for p, u in zip(USES, use_table(examined(**options)), strict=True) if p.key == key]
    assert use.mark == "unknown"
    assert told in use.sentence


def test_a_measure_that_could_be_a_cross_as_well_leaves_no_tick():
    """The worst value decides only where no other could be bad: a wide interval around a small loss is no tick."""

    def with_wide_mauve(**loss: float) -> list[Finding]:
        rows = [f for f in examined(dict(loss)) if (f.name, f.reference) != ("mauve", "train")]
        return [*rows, finding("mauve", "train", 0.95, 0.6, texts_a_side=500)]

    (search,) = [u for u in use_table(with_wide_mauve(kid=0.09)) if u.use.startswith("Searching")]
    assert (search.mark, search.finding) == ("unknown", "mauve")
    assert "from good to bad at 500 texts" in search.sentence
    (search,) = [u for u in use_table(with_wide_mauve(kid=0.9)) if u.use.startswith("Searching")]
    assert (search.mark, search.finding) == ("cross", "kid")


def test_what_real_text_itself_varies_by_is_no_loss():
    rows = [f for f in examined() if f.name != "self_bleu"]
    ours = finding("self_bleu", "train", 0.29, 0.03, texts_a_side=500)
    for half, mark in ((0.0, "cross"), (0.09, "unknown")):
        table = use_table([*rows, ours, finding("self_bleu", "real", 0.2, half)])
        assert next(u.mark for u in table if u.use.startswith("Teaching")) == mark


def test_what_is_held_against_real_text_has_its_chance_counted_once():
    rows = [f for f in examined() if f.name != "topic_shift"]
    ours = finding("topic_shift", "train", 0.5, 0.1, texts_a_side=500)
    for half in (0.0, 0.3):
        level = [finding("topic_shift", "real", 0.1, half), finding("topic_shift", "unrelated", 0.9)]
        assert next(u.mark for u in use_table([*rows, ours, *level]) if u.use.startswith("Searching")) == "cross"


def use_of(rows: list[Finding], key: str) -> Use:
    return next(use for purpose, use in zip(USES, use_table(rows), strict=True) if purpose.key == key)


@pytest.mark.parametrize(("top", "mark"), [(0.399, "cross"), (0.4, "cross"), (0.401, "unknown"), (1.0, "unknown")])
def test_what_overlaps_real_text_is_no_cross(top: float, mark: str):
    """A variety of pairs far from real text, whose interval begins at 0.4, beside real text up to `top`."""
    rows = [f for f in examined() if f.name != "js_2gram"]
    ours = Finding("js_2gram", 0.9, 0.4, 0.95, 500, "train", "", "lower is better", "utility", {"texts_a_side": 500})
    real = Finding("js_2gram", 0.3, 0.2, top, 500, "real", "", "lower is better", "utility")
    far = finding("js_2gram", "unrelated", 0.5)
    use = use_of([*rows, ours, real, far], "software")
    assert (use.mark, use.finding) == (mark, "js_2gram")
    assert ("overlaps that of real text" in use.sentence) == (mark == "unknown")
    assert ("js_2gram" in clearly_lost([*rows, ours, real, far])) == (mark == "cross")


def test_a_measure_without_an_interval_of_its_own_is_held_against_that_of_real_text():
    rows = [f for f in examined() if f.name != "mauve"]
    ours = finding("mauve", "train", 0.03, None, texts_a_side=100)
    level = [finding("mauve", "real", 0.67, 0.66), finding("mauve", "unrelated", 0.004)]
    assert use_of([*rows, ours, *level], "search").mark == "unknown"
    settled = [finding("mauve", "real", 0.67, 0.2), finding("mauve", "unrelated", 0.004)]
    assert use_of([*rows, ours, *settled], "search").mark == "cross"
    worse = [f for f in examined({"kid": 0.9}) if f.name != "mauve"]
    assert use_of([*worse, ours, *level], "search").finding == "kid", "a settled cross decides before an open one"


def test_a_reason_that_was_given_is_said():
    rows = [f for f in examined() if (f.name, f.reference) != ("mauve", "train")]
    rows.append(finding("mauve", "train", float("nan"), None, why="60 texts a side are too few"))
    (use,) = [u for u in use_table(rows) if u.finding == "mauve"]
    assert (use.mark, "60 texts a side are too few" in use.sentence) == ("unknown", True)


def test_a_classifier_that_real_text_cannot_teach_either_says_nothing():
    rows = [f for f in examined() if f.name not in ("classifier_majority",)]
    use = use_table([*rows, finding("classifier_majority", "none", 0.75)])[2]
    assert use.mark == "unknown"
    assert "no more than guessing" in use.sentence


def without_a_way(names: tuple[str, ...], **loss: float) -> list[Finding]:
    """Return findings where unrelated text does as well as real text by the measures named."""
    return [
        replace(one, value=BEST[one.name][0], low=BEST[one.name][0], high=BEST[one.name][0])
        if one.name in names and one.reference == "unrelated" else one
        for one in examined(loss)
    ]  # fmt: skip


def test_a_measure_that_tells_nothing_does_not_decide_alone():
    some = without_a_way(("length_distance",), js_1gram=0.2)
    assert tells_nothing(some, "length_distance")
    assert not tells_nothing(some, "js_1gram")
    (statistics,) = [use for use in use_table(some) if use.use.startswith("Sharing")]
    assert (statistics.mark, statistics.finding) == ("warning", "js_1gram")
    assert statistics.sentence.endswith(
        "Length of texts: unrelated text does as well as real text, so it tells nothing here."
    )
    both = without_a_way(("length_distance", "js_1gram"))
    (statistics,) = [use for use in use_table(both) if use.use.startswith("Sharing")]
    assert statistics.mark == "unknown"
    assert "tells nothing here" in statistics.sentence
    lacking = [one for one in some if one.name != "js_1gram"]
    (statistics,) = [use for use in use_table(lacking) if use.use.startswith("Sharing")]
    assert (statistics.mark, statistics.finding) == ("unknown", "js_1gram"), "what was not measured is still missing"


def test_a_level_that_is_no_level_gives_no_loss():
    """Unrelated text that does as well as real text tells nothing; a loss over it would have the wrong sign."""
    rows = [finding("js_1gram", "train", 0.2), finding("js_1gram", "real", 0.2), finding("js_1gram", "unrelated", 0.1)]
    assert lost(rows, "js_1gram") is None


def test_an_examination_of_an_earlier_edition_keeps_what_it_measured():
    """No classifier, next words, readability or kernel distance: those lines are unknown, the others as they were."""
    names = {"length_distance", "js_1gram", "js_2gram", "embedding_similarity", "mauve", "self_bleu", "distinct_2"}
    rows = [f for f in examined({"js_2gram": 0.2}) if f.name in names]
    assert marks(rows) == {"statistics": "tick", "software": "warning", "classifier": "unknown",
                           "teaching": "unknown", "language_model": "unknown", "search": "tick"}  # fmt: skip


def test_no_line_contradicts_another_whatever_was_found():
    """The rules at the head of the module, for findings drawn at random, some of them missing."""
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(3000):
        loss = {name: float(rng.choice([0.0, rng.uniform(0, 0.3), rng.uniform(0, 1.2)])) for name in
                [*BEST, *ALONE, "classifier_f1"]}  # fmt: skip
        rows = examined(
            loss, half=float(rng.choice([0.0, 0.05, 0.4])), readable=rng.choice([None, 0.1, 0.7, 0.85, 0.95]),
            texts=int(rng.choice([20, 60, 500])), tokens=int(rng.choice([900, 40_000])), classifier=rng.random() < 0.8,
        )  # fmt: skip
        rows = [f for f in rows if rng.random() > 0.02]
        table = use_table(rows)
        found = marks(rows)
        seen |= {(key, mark) for key, mark in found.items()}
        if unreadable(rows):
            assert {found[key] for key in ("teaching", "language_model", "search")} == {"cross"}
            assert "tick" not in {found["software"], found["classifier"]}
        if "cross" in (found["software"], found["teaching"]):
            assert found["language_model"] != "tick"
        for use in table:
            assert use.finding in MEASURES
            assert use.sentence.endswith(".")
            if use.mark in ("tick", "warning"):
                assert use.size is not None
                assert use.size >= use.least
            if use.mark == "tick":
                assert use.lost is not None
                assert use.lost <= TICK < WARN
    assert seen == {(p.key, mark) for p in USES for mark in ("tick", "warning", "cross", "unknown")}


def test_more_loss_never_suits_better():
    order = {"tick": 0, "warning": 1, "cross": 2}
    for name in [*BEST, *ALONE, "classifier_f1"]:
        before = marks(examined())
        for loss in (0.05, 0.2, 0.5, 1.0):
            after = marks(examined({name: loss}))
            assert all(order[after[key]] >= order[before[key]] for key in after), (name, loss)
            before = after


@pytest.mark.parametrize(
    ("marks", "said"),
    [
        (["tick"] * 6, "Suits all six uses."),
        (["unknown"] * 6, "Not known for any of six uses."),
        (["cross"] * 6, "Suits none of six uses."),
        (["cross"] * 4 + ["unknown"] * 2, "Suits none of the four uses that could be judged; two not known."),
        (["cross"] + ["unknown"] * 5, "Does not suit the one use that could be judged; five not known."),
        (["warning"] + ["unknown"] * 5, "Suits only with care the one use that could be judged; five not known."),
        (["warning"] + ["cross"] * 5, "Suits none of six uses without care, one with care."),
        (
            ["warning"] + ["cross"] * 4 + ["unknown"],
            "Suits none of the five uses that could be judged without care, one with care; one not known.",
        ),
        (
            ["tick", "tick", "warning", "cross", "cross", "unknown"],
            "Suits two of six uses, one with care; one not known.",
        ),
        (["tick"] + ["cross"] * 5, "Suits one of six uses."),
    ],
)
def test_the_headline_counts_the_uses(marks, said):
    uses = [Use(f"Use {place}", mark, "", "mauve", None) for place, mark in enumerate(marks)]
    assert headline(uses) == said
