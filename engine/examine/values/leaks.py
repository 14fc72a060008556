"""Findings from private entities in synthetic text: PIPP and ELP, in both editions.

The `train` row holds all training entities against all synthetic records: that is the threat. The
training part is several times the holdout, and more entities are found by chance; so settings carry
`equal_size_value`, and the `_excess` rows compare equal numbers of records. They leave out what the records of many
people hold (`engine.examine.values.shared`), and hold an entity to be of everybody in whose records it stands.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.examine.base import Side
from engine.examine.each import each_output
from engine.examine.findings.findings import UNSHARED, Finding, Reference
from engine.examine.findings.make import finding, missing
from engine.examine.findings.part import LISTED, Part
from engine.examine.prepare import Prepared
from engine.examine.samples import sample_units, seeded_order
from engine.examine.stats import intervals
from engine.examine.stats.split_excess import Split, split_excess
from engine.examine.values import shared
from engine.examine.values.entities import (
    EntityIndex,
    Matches,
    context_shares,
    entities_found,
    find_entities,
    index_entities,
    leak_table,
    records_with,
    standing,
    standing_pairs,
)
from engine.json_types import JSON

MATCHING = "word sequences, ignoring case, punctuation and spacing"
KINDS = (("", "all"), ("_direct", "direct"))
MET, MET_COLUMNS = "met_units", ["attack", "reference", "units"]  # of how many units the text holds something
OF_ONE = "direct identifier"  # that a single unit has
MOST_PAIRS = 2_000_000  # of a text and an entity that are summed at once
MOST_TEXTS = 20_000  # synthetic records that the excess is taken by, as many as the strict meter's
NO_SPANS = "no span is accepted: run detection or use the gold spans, then examine again"
NO_HOLDOUT = "the corpus has no holdout record: import it with a holdout"
NO_DIRECT = "no accepted span is a direct identifier"
NONE_LEFT = "no such value is accepted but those that many people's records hold"
NO_LINEAGE = "the method does not write each record from one source record"


def equal_size(prepared: Prepared) -> Side:
    """Return a sample of training units with as many records as the holdout has."""
    size = min(len(prepared.train), len(prepared.holdout))
    return prepared.train.take(sample_units(prepared.train.units, size, prepared.seed, "equal size"))


def examine_leaks(prepared: Prepared) -> Part:
    """Return PIPP and ELP against train, holdout and a baseline, the entities found and who leaks what."""
    part = Part()
    prepared.report("leaked entities", 0, 4)
    small, excess = _at_equal_size(prepared), _excess(prepared)  # what these look at is gone before the whole is there
    held = _against_holdout(prepared, small)  # and so is this
    prepared.report("leaked entities", 1, 4)
    train = index_entities(prepared.train)
    in_train = find_entities(prepared.synthetic.words, train)
    prepared.report("leaked entities", 2, 4)
    _add_reference(part, prepared, "train", train, in_train, small, NO_SPANS)
    part.add(held)
    in_train = in_train.without_places()
    for suffix, kind in KINDS:
        if train.mask(kind).any():
            part.add(
                Part(tables=each_output(prepared, f"pipp{suffix}", "train", _hits(prepared, train, in_train, kind)))
            )
    prepared.report("leaked entities", 3, 4)
    part.findings += _baseline(prepared, train, in_train)
    part.findings += excess
    part.findings += _context(prepared, train, in_train)
    part.signals = _signals(prepared, train, in_train)
    prepared.report("leaked entities", 4, 4)
    return part


def _against_holdout(prepared: Prepared, small: Mapping[str, float]) -> Part:
    """Return what is found of the holdout's entities, and who leaks what of them."""
    part = Part()
    holdout = index_entities(prepared.holdout)
    why = NO_SPANS if len(prepared.holdout) else NO_HOLDOUT
    _add_reference(part, prepared, "holdout", holdout, find_entities(prepared.synthetic.words, holdout), small, why)
    return part


def _add_reference(
    part: Part, prepared: Prepared, reference: Reference, index: EntityIndex, matches: Matches,
    small: Mapping[str, float], why: str,
) -> None:  # fmt: skip
    part.findings += _one_reference(prepared, reference, index, matches, small, why)
    part.add(Part(tables=_tables(prepared, reference, index, matches, _shared(prepared, index))))


def _at_equal_size(prepared: Prepared) -> dict[str, float]:
    """Return PIPP and ELP against as many training records as the holdout has, by name, where there are such values."""
    index = index_entities(equal_size(prepared))
    matches = find_entities(prepared.synthetic.words, index)
    found = entities_found(matches, len(index))
    values: dict[str, float] = {}
    for suffix, kind in KINDS:
        mask = index.mask(kind)
        if len(index):
            values[f"pipp{suffix}"] = float(np.mean(_hits(prepared, index, matches, kind)))
        if mask.any():
            values[f"elp{suffix}"] = float(found[mask].mean())
    return values


def _hits(prepared: Prepared, index: EntityIndex, matches: Matches, kind: str) -> NDArray[np.bool_]:
    return records_with(matches, len(prepared.synthetic), index.mask(kind))


def _one_reference(
    prepared: Prepared, reference: Reference, index: EntityIndex, matches: Matches, small: Mapping[str, float], why: str
) -> list[Finding]:
    """Return the PIPP and ELP rows of one reference."""
    rows: list[Finding] = []
    groups = prepared.synthetic_groups()
    base: dict[str, JSON] = {"matching": MATCHING, "edition": "corpus", "spans_too_short": index.skipped}
    found = entities_found(matches, len(index))
    for suffix, kind in KINDS:
        mask = index.mask(kind)
        if not mask.any():
            reason = why if not len(index) else NO_DIRECT
            rows += [missing(f"pipp{suffix}", reference, reason), missing(f"elp{suffix}", reference, reason)]
            continue
        extra: dict[str, JSON] = {"entities": int(mask.sum()), "identifiers": kind}
        shares = (
            intervals.share(_hits(prepared, index, matches, kind), groups),
            intervals.share(found[mask], index.holder[mask]),
        )
        for name, share in zip((f"pipp{suffix}", f"elp{suffix}"), shares, strict=True):
            equal: dict[str, JSON] = {"equal_size_value": small[name]} if reference == "train" and name in small else {}
            rows.append(finding(name, reference, share, **base, **extra, **equal))
    rare = index.mask("rare")
    if rare.any():
        elp_rare = intervals.share(found[rare], index.holder[rare])
        rows.append(finding("elp_rare", reference, elp_rare, **base, entities=int(rare.sum())))
    else:
        reason = why if not len(index) else "no entity is held by a single unit"
        rows.append(missing("elp_rare", reference, reason))
    return rows


def _baseline(prepared: Prepared, train: EntityIndex, in_train: Matches) -> list[Finding]:
    """Return what real records that nobody used would score against the training part, at equal texts for ELP."""
    real = prepared.holdout
    if not len(real) or not len(train):
        why = NO_HOLDOUT if not len(real) else NO_SPANS
        return [missing("pipp", "baseline", why), missing("elp", "baseline", why)]
    matches = find_entities(real.words, train)
    hits = records_with(matches, len(real), train.mask("all"))
    groups = real.units if prepared.grouped else None
    size = min(len(real), len(prepared.synthetic))
    keep = np.zeros(len(real), bool)
    keep[seeded_order(real.record_ids, prepared.seed, "baseline")[:size]] = True
    ours = np.zeros(len(prepared.synthetic), bool)
    ours[seeded_order(prepared.synthetic.record_ids, prepared.seed, "baseline")[:size]] = True
    of_real = np.bincount(matches.entity[keep[matches.text]], minlength=len(train)) > 0
    of_ours = np.bincount(in_train.entity[ours[in_train.text]], minlength=len(train)) > 0
    what = "holdout records in the place of the synthetic ones, against the training part"
    return [
        finding("pipp", "baseline", intervals.share(hits, groups), what=what, matching=MATCHING),
        finding("elp", "baseline", intervals.share(of_real, train.holder), what=what, matching=MATCHING, texts=size,
                synthetic_value_at_these_texts=float(of_ours.mean())),
    ]  # fmt: skip


def _excess(prepared: Prepared) -> list[Finding]:
    """Return train minus holdout at equal numbers of reference records, by at most `MOST_TEXTS` synthetic ones."""
    both = equal_size(prepared), prepared.holdout  # as they are: joined, their words would stand there twice
    index = index_entities(*both)
    if not len(prepared.holdout) or not len(index):
        why = NO_HOLDOUT if not len(prepared.holdout) else NO_SPANS
        return [missing(f"{name}{suffix}_excess", "holdout", why) for suffix, _ in KINDS for name in ("pipp", "elp")]
    made = prepared.synthetic
    looked_at = np.sort(seeded_order(made.record_ids, prepared.seed, "entities")[:MOST_TEXTS])
    matches = find_entities(made.words if len(looked_at) == len(made) else made.words.take(looked_at), index)
    units = [str(unit) for side in both for unit in sorted(set(side.units.tolist()))]
    number = {unit: i for i, unit in enumerate(units)}
    of, by, names = index.held
    pairs = [of * len(units) + np.array([number[str(name)] for name in names], np.int64)[by]]
    for side in both:
        whose = np.array([number[str(unit)] for unit in side.units], np.int64)
        entity, holder = standing_pairs(side.words, index, whose)
        pairs.append(entity.astype(np.int64) * len(units) + holder)
    value, unit = np.divmod(np.unique(np.concatenate(pairs)), len(units))
    aside = shared.shared(np.bincount(value, minlength=len(index)), len(units))
    told: dict[str, JSON] = {"set_aside": int(aside.sum()), "set_aside_rule": shared.RULE, "texts": len(looked_at)}
    first = np.arange(len(units)) < len(set(both[0].units.tolist()))
    split = Split(len(looked_at), len(index), *_seen(matches), value, unit, first)
    groups = prepared.synthetic_groups(looked_at)
    records = min(len(prepared.train), len(prepared.holdout))
    rows: list[Finding] = []
    for suffix, kind in KINDS:
        kept = index.mask(kind) & ~aside
        if not kept.any():
            why = NONE_LEFT if index.mask(kind).any() else NO_DIRECT
            rows += [missing(f"{name}{suffix}_excess", "holdout", why) for name in ("pipp", "elp")]
            continue
        for name, sides, excess in zip(
            ("pipp", "elp"), split.finds(split.first, kept),
            split_excess(split, kept, prepared.seed, groups=groups), strict=True,
        ):  # fmt: skip
            levels: dict[str, JSON] = {
                place: [float(found.mean()) if len(found) else None, len(found)]
                for place, found in zip(UNSHARED, sides, strict=True)
            }
            settings = {"reference_records": records, **told, **levels}
            rows.append(finding(f"{name}{suffix}_excess", "holdout", excess, **settings))
    return rows


def _seen(matches: Matches) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return which value stands in which text, each pair once: value (p,), text (p,)."""
    text, value = matches.pairs
    return value.astype(np.int64), text.astype(np.int64)


def _context(prepared: Prepared, train: EntityIndex, in_train: Matches) -> list[Finding]:
    """Return the context editions, with the entities of a different training record as baseline."""
    lineage = prepared.synthetic.lineage
    names = ("pipp_context", "elp_context")
    if lineage is None or not len(train):
        why = NO_LINEAGE if lineage is None else NO_SPANS
        return [missing(name, "train", why) for name in names]
    others = np.array(sorted(train.record_ids[np.unique(train.row)].tolist()), dtype=object)
    order = seeded_order(prepared.synthetic.record_ids, prepared.seed, "other source")
    other = np.empty(len(lineage), dtype=object)
    other[order] = others[np.arange(len(lineage)) % len(others)]
    other = np.where(other == lineage, np.roll(other, 1), other)
    rows: list[Finding] = []
    references: tuple[tuple[Reference, NDArray[np.object_], str], ...] = (
        ("train", lineage, "the record each text stems from"),
        ("baseline", other, "a training record drawn at random"),
    )
    for reference, sources, what in references:
        shares = context_shares(in_train, sources, train)
        known = ~np.isnan(shares)
        groups = None if not prepared.grouped else prepared.synthetic.units[known]
        if not known.any():
            rows += [missing(name, reference, "no source record has an accepted span") for name in names]
            continue
        settings = {"edition": "context", "entities_of": what, "matching": MATCHING}
        pipp = intervals.share(shares[known] > 0, groups)
        elp = intervals.mean(shares[known], prepared.seed, groups)
        rows += [finding(names[0], reference, pipp, **settings), finding(names[1], reference, elp, **settings)]
    return rows


def _shared(prepared: Prepared, index: EntityIndex) -> NDArray[np.bool_]:
    """Return which entities so many people of both parts hold that they identify nobody, bool array (m,)."""
    sides = prepared.train, prepared.holdout  # no unit is in both
    codes = [pd.factorize(side.units) for side in sides]
    holders = sum((standing(side.words, index, own) for side, (own, _) in zip(sides, codes, strict=True)),
                  np.zeros(len(index), np.int64))  # fmt: skip
    return shared.shared(holders, sum(len(names) for _, names in codes))


def _tables(
    prepared: Prepared, reference: Reference, index: EntityIndex, matches: Matches, aside: NDArray[np.bool_]
) -> dict[str, pd.DataFrame]:
    """Return `leaks` (rare and direct first, at most `LISTED`), `elp` (a row a label) and `met_units`, without text.

    What many people share (`aside`) is no leak of anybody's, so it is not shown as one.
    """
    leaks = leak_table(prepared.synthetic, matches, index, aside, LISTED)
    leaks["reference"] = reference
    of, by, _ = index.held
    alone = entities_found(matches, len(index)) & index.direct & (index.holders == 1) & ~aside
    met = pd.DataFrame([(OF_ONE, reference, len(np.unique(by[alone[of]])))], columns=MET_COLUMNS)
    found = entities_found(matches, len(index))
    frame = pd.DataFrame(
        {
            "label": index.labels,
            "identifier_type": np.where(index.direct, "direct", "quasi"),
            "entities": np.ones(len(found), int),
            "leaked": found.astype(int),
            "rare": index.mask("rare").astype(int),
            "rare_leaked": (index.mask("rare") & found).astype(int),
        }
    )
    by_label = frame.groupby(["label", "identifier_type"], as_index=False).sum()
    by_label["reference"] = reference
    return {"leaks": leaks, "elp": by_label, MET: met}


def _signals(prepared: Prepared, train: EntityIndex, in_train: Matches) -> dict[str, NDArray[np.float64]]:
    """Return per synthetic record its distinct direct entities, each divided by its units, and its rare quasi ones."""
    text, entity = in_train.pairs
    direct, rare = train.mask("direct"), train.mask("rare")
    size = len(prepared.synthetic)

    share = 1.0 / np.maximum(1, train.holders)

    def count(mask: NDArray[np.bool_]) -> NDArray[np.float64]:
        weighed = share * mask
        found = np.zeros(size)
        for low in range(0, len(text), MOST_PAIRS):
            part = slice(low, low + MOST_PAIRS)
            found += np.bincount(text[part], weights=weighed[entity[part]], minlength=size)
        return found

    return {"direct": count(direct), "rare": count(rare & ~direct)}
