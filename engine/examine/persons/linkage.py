"""Findings from combinations of details: who is singled out by what stands together in the release?

Uniqueness is judged among the units of both parts together, so a training and a holdout unit have the same chance to be
singled out by text that used neither; shares of units then compare at any sizes. The `baseline` row puts real holdout
records in the place of the synthetic ones (their own units left out).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.examine.base import Side
from engine.examine.findings.findings import Finding, Reference
from engine.examine.findings.make import finding, missing
from engine.examine.findings.part import Part
from engine.examine.members.members import ALL, SEEDS
from engine.examine.members.membership import RELEASED, membership_part
from engine.examine.persons.linkage_scores import MOST_DETAILS, Link, OneBit, UnitBits, find_links, spread_links
from engine.examine.persons.people import details, seeds
from engine.examine.prepare import Prepared
from engine.examine.samples import sample_units, seeded_order
from engine.examine.stats import intervals
from engine.examine.stats.intervals import Interval
from engine.examine.values.entities import EntityIndex, find_entities
from engine.examine.values.leaks import NO_HOLDOUT, NO_SPANS
from engine.json_types import JSON

STAGE = "linked details"
MOST_TEXTS = 3000  # synthetic records looked at, and real ones in their place
MOST_ROWS = 20_000
MOST_PEOPLE = 50_000  # records a side that the membership attack is judged by
SIDES: tuple[Reference, ...] = ("train", "holdout", "baseline")
REAL = "holdout records in the place of the synthetic ones, against the training units"
NO_GROUPS = "no source record has several synthetic ones"
_ATTACK = "linked_details"


@dataclass(frozen=True)
class _World:
    """Units of both parts by number, training first; which are asked about; what each detail is.

    Args:
        rows: positions in the training and in the holdout part of the records asked about; `asked` their units. One
            record stands for each unit; where seeds are drawn record by record, people with many records are members
            more often, so there each seed and each holdout record counts.
        of_record: record id -> number of its unit. train: bool, which are training units.
    """

    index: EntityIndex
    quasi: NDArray[np.bool_]
    bits: UnitBits
    units: list[str]
    rows: tuple[NDArray[np.int64], NDArray[np.int64]]
    asked: tuple[NDArray[np.int64], NDArray[np.int64]]
    of_record: dict[str, int]
    train: NDArray[np.bool_]
    members: str


def examine_linkage(prepared: Prepared) -> Part:
    """Return shares of units singled out, by one record and by several of one source, and where."""
    prepared.report(STAGE, 0, 1)
    if not len(prepared.holdout):
        return _missing(NO_HOLDOUT)
    world = _world(prepared)
    if not world.quasi.any():
        return _missing(NO_SPANS if not len(world.index) else "no accepted span is a quasi identifier")
    rows = np.sort(seeded_order(prepared.synthetic.record_ids, prepared.seed, "linkage")[:MOST_TEXTS])
    made = prepared.synthetic.take(rows)
    standing = _standing(made, world)
    links = find_links(standing, world.bits, None, lambda done, total: prepared.report(STAGE, done, total))
    real = prepared.holdout
    real = real.take(np.sort(seeded_order(real.record_ids, prepared.seed, "linkage")[: len(made)]))
    in_real = find_links(
        _standing(real, world), world.bits, _own(real, world), lambda done, total: prepared.report(STAGE, done, total)
    )
    part = Part(_shares("linkage", world, links, in_real, len(real)))
    part.findings.append(_excess(world, links))
    groups = _groups(made)
    several: list[Link] = []
    if groups:
        several = spread_links(groups, standing, world.bits, None)
        part.findings += _shares("linkage_spread", world, several, _spread_real(real, groups, world), len(real))
    else:
        part.findings += [missing("linkage_spread", side, NO_GROUPS) for side in SIDES]
    part.tables["linkage"] = _table(made, world, links, several, groups)
    part.add(_membership(prepared, world, links))
    return part


def _world(prepared: Prepared) -> _World:
    index = details(prepared)
    sides = (prepared.train, prepared.holdout)
    units: list[str] = []
    codes, firsts = [], []
    for side in sides:
        own, distinct = pd.factorize(side.units)
        first = np.full(len(distinct), len(side))
        np.minimum.at(first, own, np.arange(len(side)))
        firsts.append(first.astype(np.int64))
        codes.append(own + len(units))
        units += [str(unit) for unit in distinct]
    used = seeds(prepared)
    rows = (firsts[0], firsts[1])
    if used is not None:
        rows = (np.flatnonzero(used), np.arange(len(prepared.holdout)))
    of_record = {
        str(record): int(unit)
        for side, own in zip(sides, codes, strict=True)
        for record, unit in zip(side.record_ids, own, strict=True)
    }
    number = {unit: place for place, unit in enumerate(units)}
    detail, by, names = index.held
    whose = np.array([number[str(name)] for name in names], np.int64)
    return _World(
        index,
        ~index.direct,
        UnitBits(detail, whose[by], len(index)),
        units,
        rows,
        (codes[0][rows[0]], codes[1][rows[1]]),
        of_record,
        np.arange(len(units)) < len(firsts[0]),
        ALL if used is None else SEEDS,
    )


def _standing(side: Side, world: _World) -> list[set[int]]:
    """Return which quasi identifiers stand in each text."""
    matches = find_entities(side.words, world.index)
    found: list[set[int]] = [set() for _ in range(len(side))]
    for text, entity in zip(matches.text.tolist(), matches.entity.tolist(), strict=True):
        if world.quasi[entity]:
            found[text].add(entity)
    return found


def _own(side: Side, world: _World) -> OneBit:
    return OneBit(np.array([world.of_record[str(record)] for record in side.record_ids], np.int64))


def _hit(world: _World, links: Sequence[Link]) -> NDArray[np.bool_]:
    hit = np.zeros(len(world.units), bool)
    hit[[link.unit for link in links]] = True
    return hit


def _share(world: _World, links: Sequence[Link], side: int) -> Interval:
    """Return which share of the people asked about on one side (0 training, 1 holdout) links point to."""
    asked = world.asked[side]
    return intervals.share(_hit(world, links)[asked], asked.tolist())


def _shares(name: str, world: _World, links: Sequence[Link], in_real: Sequence[Link], texts: int) -> list[Finding]:
    """Return the triple of a share of units."""
    settings: dict[str, JSON] = {
        "sizes": "2 and 3 details",
        "most_details_a_text": MOST_DETAILS,
        "members": world.members,
    }
    return [
        finding(name, "train", _share(world, links, 0), **settings),
        finding(name, "holdout", _share(world, links, 1), **settings),
        finding(name, "baseline", _share(world, in_real, 0), what=REAL, texts=texts, **settings),
    ]


def _excess(world: _World, links: Sequence[Link]) -> Finding:
    apart = intervals.difference_independent(_share(world, links, 0), _share(world, links, 1))
    return finding("linkage_excess", "holdout", apart, members=world.members)


def _groups(made: Side) -> list[list[int]]:
    """Return the synthetic records of each source record that has several."""
    by_source: dict[str, list[int]] = {}
    for text, source in enumerate([] if made.lineage is None else made.lineage):
        if source is not None:
            by_source.setdefault(str(source), []).append(text)
    return [texts for texts in by_source.values() if len(texts) > 1]


def _spread_real(real: Side, groups: Sequence[Sequence[int]], world: _World) -> list[Link]:
    """Return the same for real records put together in groups of the same sizes, as far as they go."""
    own, start = _own(real, world), 0
    made, apart = [], []
    for group in groups:
        texts = list(range(start, start + len(group)))
        if texts[-1] >= len(real):
            break
        made.append(texts)
        bits = 0
        for text in texts:
            bits |= own[text]
        apart.append(bits)
        start += len(group)
    return spread_links(made, _standing(real, world), world.bits, apart)


def _table(
    made: Side, world: _World, links: Sequence[Link], several: Sequence[Link], groups: Sequence[Sequence[int]]
) -> pd.DataFrame:
    """Return a row a combination and text: ids, entity numbers and labels, never text; members first."""
    rows = []
    asked = set(world.asked[0].tolist())
    told = [(link, [link.text]) for link in links] + [(link, [*groups[link.text]]) for link in several]
    for (link, texts), record in zip(told, _records(world, [link for link, _ in told]), strict=True):
        rows.append((
            made.record_ids[texts[0]], len(texts), record, world.units[link.unit],
            "train" if world.train[link.unit] else "holdout",
            link.unit in asked or not world.train[link.unit], len(link.details),
            "+".join(str(detail) for detail in link.details),
            " + ".join(world.index.labels[detail] for detail in link.details),
        ))  # fmt: skip
    columns = ["record_id", "records", "source_record_id", "unit", "reference", "asked", "size", "details", "labels"]
    table = pd.DataFrame(rows, columns=columns)
    order = np.lexsort((-table["records"].to_numpy(int), table["reference"] != "train"))
    return table.iloc[order[:MOST_ROWS]].reset_index(drop=True)


def _records(world: _World, links: Sequence[Link]) -> NDArray[np.object_]:
    """Return the record of each link's unit in which the first of its details is marked first, object array (k,)."""
    index, many = world.index, max(1, len(world.units))
    whose = np.array([world.of_record[str(record)] for record in index.record_ids], np.int64)
    held = index.entity.astype(np.int64) * many + whose[index.row]
    order = np.argsort(held, kind="stable")
    wanted = np.array([link.details[0] * many + link.unit for link in links], np.int64)
    return index.record_ids[index.row[order[np.searchsorted(held[order], wanted)]]]


def _membership(prepared: Prepared, world: _World, links: Sequence[Link]) -> Part:
    """Return the membership attack: to whom do most combinations of one synthetic record point?"""
    scores = np.zeros(len(world.units))
    for (_, unit), count in Counter((link.text, link.unit) for link in links).items():
        scores[unit] = max(scores[unit], count)
    sides = prepared.train, prepared.holdout
    kept = [
        sample_units(side.units[rows], MOST_PEOPLE, prepared.seed, _ATTACK)
        for side, rows in zip(sides, world.rows, strict=True)
    ]
    members, others = (scores[asked[among]] for asked, among in zip(world.asked, kept, strict=True))
    return membership_part(
        prepared, _ATTACK, "Linked details of a person", RELEASED, members, others,
        train_rows=world.rows[0][kept[0]], holdout_rows=world.rows[1][kept[1]], note=world.members,
    )  # fmt: skip


def _missing(why: str) -> Part:
    names = ("linkage", "linkage_spread", _ATTACK, f"{_ATTACK}_tpr01")
    found = [missing(name, side, why) for name in names for side in SIDES]
    return Part([*found, missing("linkage_excess", "holdout", why)])
