"""What many people share is set aside; what one person has is found, however the split falls."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from engine.corpus.text.words import Vocabulary
from engine.examine.examination import ExamineInput
from engine.examine.findings.findings import Finding
from engine.examine.findings.verdict import privacy_verdict
from engine.examine.prepare import prepare
from engine.examine.values.leaks import examine_leaks
from engine.examine.values.shared import FEWEST, SHARE, TABLE, shared
from engine.examine.values.strict import examine_strict
from engine.examine.values.strict_scores import index_strict, mentions, read, without_common
from tests.examine.test_attacks import side

COLUMNS = ["record_id", "start", "end", "label", "identifier_type"]
SYLLABLES = "ar bel cor dun eft gil hov ist jur kem lod mur nes ost pra rud sim tov urn vek".split()
PHRASE = "c/o"


@pytest.mark.parametrize(
    ("holders", "people", "aside"),
    [
        (0, 100, False),
        (4, 4, False),  # four people are too few to say that it is common
        (5, 5, True),
        (FEWEST, 20, True),  # 25%, at least 11%
        (FEWEST, 23, False),  # 22%, at least 9.7%
        (40, 400, False),  # one in ten, but at least 7.4% is all that can be said
        (53, 400, True),
    ],
)
def test_the_rule(holders: int, people: int, aside: bool) -> None:
    assert shared(np.array([holders]), people).tolist() == [aside], SHARE


def test_the_common_half_of_a_name_goes_and_the_name_stays() -> None:
    texts = [f"Anna {name.title()} was seen." for name in SYLLABLES] + ["Nobody came."]
    texts[1] = "Anna Norrvik was seen."
    private = [(1, "Anna Norrvik", "direct"), (5, "Gil", "direct"), (3, "Anna", "direct")]
    reference = side(texts, Vocabulary(), private)
    index = index_strict(reference)
    index = without_common(index, read(texts, index), reference.units)
    assert index.aside.tolist() == [False, False, True]  # the first name alone tells nobody apart
    found = mentions(read(["Anna came.", "ANNA NORRVIK came.", "Norrvik came."], index), index)
    assert set(zip(found.text.tolist(), found.value.tolist(), strict=True)) == {(1, 0), (2, 0)}


def test_a_value_is_held_by_all_who_have_it_marked_or_not() -> None:
    texts = [f"Note {i}: seen at Norrvik." if i in (2, 7) else f"Note {i}: well." for i in range(40)]
    reference = side(texts, Vocabulary(), [(2, "Norrvik", "quasi")])
    index = index_strict(reference)
    assert set(index.units) == {"r2"}
    index = without_common(index, read(texts, index), reference.units)
    assert set(index.units) == {"r2", "r7"}
    assert not index.aside.any()


def corpus(
    rng: np.random.Generator, size: int, prefix: str, marks: int
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Return records with a name each, a phrase in nearly all of them that is marked in the first `marks`."""
    names = ["".join(rng.choice(SYLLABLES, 4)).title() for _ in range(size)]
    texts = [f"{name} {PHRASE if rng.random() < 0.95 else 'with'} fever." for name in names]
    spans = [(f"{prefix}{i}", 0, len(name), "PERSON", "direct") for i, name in enumerate(names)]
    holding = [i for i, text in enumerate(texts) if PHRASE in text][:marks]
    spans += [
        (f"{prefix}{i}", texts[i].index(PHRASE), texts[i].index(PHRASE) + len(PHRASE), "ORGANISATION", "quasi")
        for i in holding
    ]
    ids = [f"{prefix}{i}" for i in range(size)]
    frame = pd.DataFrame({"record_id": ids, "text": texts, "source_id": None, "label": None})
    return frame, pd.DataFrame(spans, columns=COLUMNS), names


def examined(
    seed: int, size: int, texts: int, leaking: float, marks: tuple[int, int] = (0, 6)
) -> tuple[dict[tuple[str, str], Finding], pd.DataFrame]:
    """Return findings on text that holds the phrase as real text does, and repeats names of the training part.

    The slips of the detector, `marks`, stand in the training part and in the holdout.
    """
    rng = np.random.default_rng([seed, size, texts])
    train, train_spans, names = corpus(rng, 3 * size, "t", marks[0])
    holdout, holdout_spans, _ = corpus(rng, size, "h", marks[1])
    made, _, _ = corpus(rng, texts, "s", 0)
    for at in np.flatnonzero(rng.random(texts) < leaking):
        made.loc[at, "text"] = f"{rng.choice(names)} {PHRASE} fever."
    given = ExamineInput(made.assign(lineage=None), train, holdout, train_spans, holdout_spans, seed=seed)
    part = examine_strict(prepare(given))
    part.add(examine_leaks(prepare(given)))
    return {(f.name, f.reference): f for f in part.findings}, part.tables[TABLE]


def level(findings: dict[tuple[str, str], Finding]) -> str:
    return next(one.level for one in privacy_verdict(list(findings.values())) if one.text.startswith("Real identif"))


@pytest.mark.parametrize("marks", [(6, 0), (0, 6), (3, 3)])
def test_six_slips_of_the_detector_do_not_decide(marks: tuple[int, int]) -> None:
    """They moved the excess by 95 points, one way or the other, before they were set aside."""
    findings, table = examined(3, 100, 150, 0.0, marks)
    for name in ("strict_pipp_excess", "pipp_excess"):
        assert abs(findings[name, "holdout"].value) < 0.1, name
    assert findings["strict_pipp", "train"].value < 0.3
    settings = findings["strict_pipp", "train"].settings
    assert (settings["set_aside"], settings["set_aside_types"]) == (1, {"ORGANISATION": 1})
    assert (table["marks"] == 6).all()
    assert table["holders"].iloc[0] > 0.9 * table["people"].iloc[0]
    assert PHRASE not in table.to_csv()
    said = next(one for one in privacy_verdict(list(findings.values())) if one.text.startswith("Real identifiers"))
    assert "Not counted: 1 value (organisation 1)" in said.more


@pytest.mark.parametrize(("size", "texts"), [(20, 60), (100, 150)])
def test_real_names_are_still_found_beside_the_slips(size: int, texts: int) -> None:
    """A third of the texts repeat the name of somebody whose record was used."""
    found = [level(examined(seed, size, texts, 0.5)[0]) for seed in range(5)]
    assert found.count("leak") >= 4


def test_what_is_set_aside_is_not_shown_as_a_leak_and_a_name_is() -> None:
    rng = np.random.default_rng(2)
    train, train_spans, names = corpus(rng, 60, "t", 6)
    holdout, holdout_spans, _ = corpus(rng, 20, "h", 0)
    made, _, _ = corpus(rng, 30, "s", 0)
    made.loc[0, "text"] = f"{names[3]} {PHRASE} fever."
    given = ExamineInput(made.assign(lineage=None), train, holdout, train_spans, holdout_spans, seed=0)
    leaks = examine_leaks(prepare(given)).tables["leaks"]
    leaks = leaks[leaks["reference"] == "train"]
    assert set(leaks["record_id"]) == {"s0"}
    assert set(leaks["label"]) == {"PERSON"}


def test_which_part_a_slip_stands_in_changes_nothing_of_what_is_set_aside() -> None:
    tables = [examined(5, 60, 60, 0.0, marks)[1] for marks in ((6, 0), (0, 6))]
    assert tables[0]["holders"].iloc[0] == tables[1]["holders"].iloc[0]


@pytest.mark.long
@pytest.mark.parametrize(("size", "texts"), [(20, 60), (100, 150)])
def test_two_hundred_draws_of_chance(size: int, texts: int) -> None:
    found = [examined(seed, size, texts, 0.0)[0] for seed in range(200)]
    assert sum(level(one) == "leak" for one in found) <= 0.05 * 200
    for name in ("strict_pipp_excess", "strict_elp_excess", "pipp_excess"):
        assert sum((one[name, "holdout"].low or 0) > 0 for one in found) <= 0.05 * 200, name


@pytest.mark.long
@pytest.mark.parametrize(("size", "texts"), [(20, 60), (100, 150)])
def test_two_hundred_draws_of_leaks(size: int, texts: int) -> None:
    found = [level(examined(seed, size, texts, 0.5)[0]) for seed in range(200)]
    assert found.count("leak") >= 0.9 * 200
