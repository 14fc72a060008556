"""Findings from a person's words and style: the word probe and the stylometric attack, as membership attacks.

Both judge a person by what other people's text is like. That text is the shipped public one and the private records of
both parts, the person's own left out: which part a person is in plays no role, so a person nobody used gets the same
chances as one who was, and the attacker is a strong one, who knows text of the same kind.

Long texts score differently from short ones, and where seeds are drawn record by record, people with many records are
members more often. So scores are standardised among people with about as many words (`levelled`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.examine.base import Side
from engine.examine.findings.part import Part
from engine.examine.members.membership import RELEASED, membership_part
from engine.examine.persons.people import People, asked, levelled, public_texts
from engine.examine.persons.profiles import by_unit, grams, highest, holding, letters, present
from engine.examine.persons.stylometric import Style, style_scores
from engine.examine.persons.word_probe import REACHES, probe, rarity
from engine.examine.prepare import Prepared
from engine.examine.samples import sample, sample_units
from engine.pii.detect.plain.function_words import FUNCTION_WORDS

PEOPLE = 20_000  # a side, word probe
RELEASED_WORDS = (1_000, 5_000)  # synthetic records probed, fewest and most, within
PAIRS = 400_000_000  # private records x synthetic records
STYLED = 6_000  # a side, style
RELEASED_STYLES = 1_000  # synthetic records compared in style, and as many impostors
LETTERS = 20_000  # characters of a record
BACKGROUND = "shipped public texts and the private records of both parts, a person's own left out"
_PROBES = "word probes"


def examine_words(prepared: Prepared) -> Part:
    """Return the word probe: do the words of a person stand together in the release? A person's best record counts."""
    title = "Words of a person (word probe)"
    prepared.report("a person's words", 0, 2)
    if not len(prepared.holdout):
        return _without_holdout(prepared, "word_probe", title)
    found = record_probes(prepared)
    best = [highest(values, who.codes, len(who)) for values, who in zip(found.values, found.people, strict=True)]
    scores = _levelled(prepared, best, found.people, by_records=True)
    return membership_part(
        prepared, "word_probe", title, RELEASED, scores[0], scores[1],
        train_rows=found.people[0].rows, holdout_rows=found.people[1].rows, note=found.note,
        settings={"background": BACKGROUND, "reaches": REACHES, "synthetic_records": found.released},
    )  # fmt: skip


@dataclass(frozen=True)
class Probes:
    """The word probe of each record of the people asked about, members and non-members.

    Args:
        people: who. values: float, one a record of `people[...].records`, levelled by length, higher = more
            member-like. note: who the members are. released: synthetic records probed.
    """

    people: tuple[People, People]
    values: tuple[NDArray[np.float64], NDArray[np.float64]]
    note: str
    released: int


def record_probes(prepared: Prepared) -> Probes:
    """Return the word probe of records; made once."""
    known = prepared.kept.get(_PROBES)
    if isinstance(known, Probes):
        return known
    train, holdout, note = asked(prepared, PEOPLE, "word probe")
    private = len(prepared.train) + len(prepared.holdout)
    most = int(np.clip(PAIRS // max(1, private), *RELEASED_WORDS))
    made = prepared.synthetic.take(sample(prepared.synthetic.record_ids, most, prepared.seed, "word probe"))
    whole = [side.words for side in (prepared.train, prepared.holdout, public_texts(prepared))]
    tables = [whole[0].take(train.records), whole[1].take(holdout.records), made.words]
    ours, theirs, released = (present(table) for table in grams(tables, 1))
    holds = sum((holding(words, released.shape[1]) for words in whole), np.zeros(released.shape[1], np.int64))
    values, sizes = [], []
    for records, who in ((ours, train), (theirs, holdout)):
        shares = rarity(records, who.codes, holds.astype(np.float64), private + whole[2].size)
        values.append(probe(records, released, shares, lambda done, n: prepared.report("a person's words", done, n)))
        sizes.append(np.diff(records.indptr))
    both = levelled(np.concatenate(values), np.concatenate(sizes).astype(np.float64))
    pair = (both[: len(values[0])], both[len(values[0]) :])
    found = prepared.kept[_PROBES] = Probes((train, holdout), pair, note, len(made))
    return found


def _levelled(
    prepared: Prepared,
    scores: Sequence[NDArray[np.float64]],
    people: tuple[People, People],
    by_records: bool = False,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the scores of people, members and non-members, standardised among people with about as many words.

    Or, `by_records`, as many records first (a highest score grows with their number), words among equals.
    """
    sizes = [
        np.bincount(who.codes, weights=side.words.counts[who.records], minlength=len(who))
        for side, who in zip((prepared.train, prepared.holdout), people, strict=True)
    ]
    size = np.concatenate(sizes)
    if by_records:
        size = size / (1.0 + size.max(initial=0.0)) + np.concatenate([np.bincount(who.codes) for who in people])
    both = levelled(np.concatenate(scores), np.asarray(size, np.float64))
    return both[: len(scores[0])], both[len(scores[0]) :]


def examine_style(prepared: Prepared) -> Part:
    """Return the stylometric attack: is the release written like a person, more than others are?"""
    stage, title = "a person's style", "Style of a person (stylometric)"
    prepared.report(stage, 0, 2)
    if not len(prepared.holdout):
        return _without_holdout(prepared, "stylometric", title)
    train, holdout, note = asked(prepared, STYLED, "style")
    rows = sample(prepared.synthetic.record_ids, RELEASED_STYLES, prepared.seed, "style")
    made = prepared.synthetic.take(rows)
    numbers = {word: number for number, word in enumerate(prepared.vocabulary.words())}
    columns = np.array(sorted(numbers[word] for word in FUNCTION_WORDS if word in numbers), np.int64)
    released, impostors = _texts(made, columns), _impostors(prepared, len(made), columns)
    both = [
        _people(side, who, columns, prepared)
        for side, who in ((prepared.train, train), (prepared.holdout, holdout))
    ]  # fmt: skip
    raw = [
        style_scores(style, released, impostors, lambda done, total: prepared.report(stage, done, total))
        for style in both
    ]
    scores = _levelled(prepared, raw, (train, holdout))
    return membership_part(
        prepared, "stylometric", title, RELEASED, scores[0], scores[1],
        train_rows=train.rows, holdout_rows=holdout.rows, note=note,
        settings={
            "background": f"impostors: {BACKGROUND}", "impostors": len(impostors.words), "synthetic_records": len(made)
        },
    )  # fmt: skip


def _without_holdout(prepared: Prepared, attack: str, title: str) -> Part:
    none = np.empty(0, np.int64)
    return membership_part(
        prepared, attack, title, RELEASED, np.empty(0), np.empty(0), train_rows=none, holdout_rows=none
    )


def _texts(side: Side, columns: NDArray[np.int64]) -> Style:
    """Return the style of each text."""
    return Style(
        letters([str(text)[:LETTERS] for text in side.texts]),
        _function_words(side, columns),
        side.words.counts.astype(np.float64),
        side.units,
    )


def _function_words(side: Side, columns: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how often each function word stands in each text, float (n, f)."""
    place = np.searchsorted(columns, side.words.ids)
    place = np.minimum(place, max(0, len(columns) - 1))
    counts = np.zeros((len(side), len(columns)))
    if len(columns):
        hit = columns[place] == side.words.ids
        text = np.repeat(np.arange(len(side)), side.words.counts)
        np.add.at(counts, (text[hit], place[hit]), 1.0)
    return counts


def _people(side: Side, who: People, columns: NDArray[np.int64], prepared: Prepared) -> Style:
    """Return the style of each unit: counts of its records added up."""
    prepared.report("a person's style", 1, 2)
    taken = side.take(who.records)
    style = _texts(taken, columns)
    function = np.zeros((len(who), len(columns)))
    np.add.at(function, who.codes, style.function)
    words = np.bincount(who.codes, weights=style.words, minlength=len(who)).astype(np.float64)
    return Style(by_unit(style.letters, who.codes, len(who)), function, words, side.units[who.rows])


def _impostors(prepared: Prepared, size: int, columns: NDArray[np.int64]) -> Style:
    """Return the style of `size` texts by others: half public, half private, whichever part those are in."""
    public, seed = public_texts(prepared), prepared.seed
    first = public.take(sample(public.record_ids, (size + 1) // 2, seed, "impostors"))
    units = np.concatenate([prepared.train.units, prepared.holdout.units])
    rows = sample_units(units, max(1, size // 2), seed, "impostors")
    inside = rows < len(prepared.train)
    parts = [first, prepared.train.take(rows[inside]), prepared.holdout.take(rows[~inside] - len(prepared.train))]
    styles = [_texts(part, columns) for part in parts]
    from scipy.sparse import vstack

    return Style(
        vstack([style.letters for style in styles], format="csr"),
        np.vstack([style.function for style in styles]),
        np.concatenate([style.words for style in styles]),
        np.concatenate([style.owners for style in styles]),
    )
