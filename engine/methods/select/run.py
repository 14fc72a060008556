"""One run of dp-select: embed the pool, let private records vote once, choose.

Privacy posture: no record is in reach. Candidates are public; everything private arrives through
`context.mechanisms`, which stores each output before it is seen here.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.at_rest import files
from engine.at_rest.sealed import UnsealError
from engine.dp.noise.classes import class_of
from engine.errors import InternalError, UserError
from engine.methods.base import Context, Step, SyntheticRecord
from engine.methods.evolution import common as pe
from engine.methods.evolution.dpga_elite import elite, near_duplicate, smoothed
from engine.methods.evolution.kept_votes import kept_votes
from engine.methods.select import claim
from engine.methods.select.parameters import HISTOGRAM, DpSelectParameters

BATCH = 256  # candidates embedded between two committed steps
UNCHOSEN, UNLISTED = "dropped: fewer votes", "dropped: a label outside the public list"
WINNERS = "winners"  # of the finished run's state: position in the pool and smoothed noisy votes, an output each
EMBEDDING, VOTING = "reading the pool", "voting"


@dataclass(frozen=True)
class Field:
    """Who may be voted for: positions in the pool, and the class of each, None where there are no classes."""

    positions: tuple[int, ...]
    classes: tuple[str | None, ...]
    by_label: bool
    unlisted: int


class Selecting:
    """One run."""

    def __init__(self, context: Context, parameters: DpSelectParameters) -> None:
        if context.mechanisms is None or context.guarantee is None or context.embedder is None or context.facts is None:
            raise InternalError("the method was started without mechanisms, guarantee, embedder or facts")
        if context.count < 1:
            raise UserError(f"count: must be at least 1, got {context.count}")
        if len(context.candidates) < context.count:
            raise UserError(
                f"the pool holds {len(context.candidates):,} texts, {context.count:,} outputs are wanted: ask for fewer"
            )
        self.context, self.parameters = context, parameters
        self.mechanisms, self.embedder, self.facts = context.mechanisms, context.embedder, context.facts
        self.noise: Mapping[str, Mapping[str, float]] = context.guarantee.noise
        self.pool = context.candidates

    def steps(self) -> Iterator[Step]:
        """Yield committed steps until the outputs are chosen."""
        state = dict(self.context.state or {"phase": "read", "done": 0})
        if state["phase"] == "done":
            return
        rows = []
        for start in range(0, len(self.pool), BATCH):
            if self.context.cancelled():
                return
            rows.append(self._embedded(start))
            done = min(start + BATCH, len(self.pool))
            if done > state["done"]:
                state = {"phase": "read", "done": done}
                yield Step(state, (), {"made": 0, "kept": 0}, EMBEDDING, done, len(self.pool) + 1)
        if not self.context.cancelled():
            yield self._chosen(np.concatenate(rows))

    def _embedded(self, start: int) -> NDArray[np.float32]:
        """Return the embeddings of one batch of candidates, from the run's scratch folder where they were made "
        "before."""
        texts = [text for text, _ in self.pool[start : start + BATCH]]
        scratch = self.context.scratch
        path = None if scratch is None else scratch / f"pool-{start:07d}.npy"
        if path is not None and path.is_file():
            try:
                rows = np.load(io.BytesIO(files.read_bytes(path)), allow_pickle=False)
            except (ValueError, EOFError, OSError, UnsealError):
                rows = np.zeros((0, 1), np.float32)  # cut off in the middle of being written
            if rows.dtype == np.float32 and rows.ndim == 2 and len(rows) == len(texts):
                return np.asarray(rows)
        made = self.embedder.embed(texts)
        if path is not None:
            buffer = io.BytesIO()
            np.save(buffer, made, allow_pickle=False)
            part = path.with_suffix(".tmp")
            files.write_bytes(part, buffer.getvalue(), at=path)
            files.put(part, path)
        return made

    def _chosen(self, embeddings: NDArray[np.float32]) -> Step:
        standing = self._field()
        wanted = fitted(self._shares(standing), Counter(standing.classes), self.context.count)
        points = embeddings[list(standing.positions)]
        pairs: list[pe.Pair] = [
            (self.pool[i][0], own) for i, own in zip(standing.positions, standing.classes, strict=True)
        ]
        votes = self.mechanisms.noisy_votes(
            "votes",
            points,
            fingerprint=pe.fingerprint(pairs),
            noise_multiplier=float(self.noise["votes"]["noise_multiplier"]),
            groups=None if None in standing.classes else [str(own) for own in standing.classes],
            edges=self.parameters.lengths or None,
            by_label=standing.by_label,
        )
        tau = None
        if self.parameters.suppression != "off":
            tau = near_duplicate(points) if self.parameters.tau is None else self.parameters.tau
        scores = smoothed(points, votes, pairs)
        kept, level, held = elite(points, votes, pairs, wanted, tau)
        measured = kept_votes(
            votes, float(self.noise["votes"]["sigma"]), pairs, wanted,
            lambda seen: elite(points, seen, pairs, wanted, tau)[0],
            np.random.default_rng(pe.seed_of(self.context.seed, "kept votes")),
        )  # fmt: skip
        order = list(kept)
        pe.rng_of(self.context.seed, "order").shuffle(order)  # which says nothing about votes
        records = tuple(self._record(standing, i) for i in order)
        notes = pe.noted(1, votes, kept, pairs, points, tau=level, held_back=held, **measured.notes())
        unchosen = len(standing.positions) - len(kept)
        funnel = {"made": len(self.pool), UNCHOSEN: unchosen, "kept": len(records)}
        if standing.unlisted:
            funnel[UNLISTED] = standing.unlisted
        winners = [[standing.positions[i], round(float(scores[i]), 4)] for i in order]
        return Step(
            state={"phase": "done", "done": len(self.pool), WINNERS: winners},
            records=records,
            funnel=funnel,
            stage=VOTING,
            done=len(self.pool) + 1,
            total=len(self.pool) + 1,
            diagnostics=pe.diagnostics_of([notes]),
        )

    def _record(self, standing: Field, i: int) -> SyntheticRecord:
        text, label = self.pool[standing.positions[i]]
        return SyntheticRecord(text, label if standing.by_label else None)

    def _field(self) -> Field:
        """Return the candidates; by labels only those of the list, or all without labels where the list has none."""
        edges, listed = self.parameters.lengths, set(self.context.labels)
        by_label = claim.labelled(self.parameters, self.facts) and any(label in listed for _, label in self.pool)
        positions = [i for i, (_, label) in enumerate(self.pool) if not by_label or label in listed]
        classes: list[str | None] = []
        for i in positions:
            text, label = self.pool[i]
            own = label if by_label else None
            classes.append(class_of(own, len(text.split()), edges) if edges else own)
        if len(positions) < self.context.count:
            # Not an error: the list may have been bought by now, and what was paid for must not be lost.
            return self._unlabelled(edges) if by_label else Field(tuple(positions), tuple(classes), by_label, 0)
        return Field(tuple(positions), tuple(classes), by_label, len(self.pool) - len(positions))

    def _unlabelled(self, edges: tuple[int, ...]) -> Field:
        classes = tuple(class_of(None, len(text.split()), edges) if edges else None for text, _ in self.pool)
        return Field(tuple(range(len(self.pool))), classes, False, 0)

    def _shares(self, standing: Field) -> dict[str | None, float]:
        """Return the share of each class, as bought or declared."""
        names = sorted({own for own in standing.classes if own is not None})
        if not names:
            return {None: 1.0}
        if HISTOGRAM in self.noise:
            multiplier = float(self.noise[HISTOGRAM]["noise_multiplier"])
            if self.parameters.lengths:
                values = self.mechanisms.noisy_histogram(
                    HISTOGRAM, "class", names, noise_multiplier=multiplier, edges=self.parameters.lengths,
                    by_label=standing.by_label, what="class histogram",
                )  # fmt: skip
            else:
                values = self.mechanisms.noisy_histogram(
                    HISTOGRAM, "label", names, noise_multiplier=multiplier, what="class histogram"
                )
        elif self.context.label_shares is not None:
            values = np.array([self.context.label_shares.get(name, 0.0) for name in names])
        else:
            values = self.mechanisms.declared("labels", "label", names)
        return {name: max(0.0, float(value)) for name, value in zip(names, values, strict=True)}


def fitted(
    shares: Mapping[str | None, float], available: Mapping[str | None, int], count: int
) -> dict[str | None, int]:
    """Return `count` outputs split by shares; what a class of few candidates cannot give goes to the others."""
    found = dict.fromkeys(shares, 0)
    left = dict(shares)
    while left and sum(found.values()) < count:
        for name, quota in pe.quotas(left, count - sum(found.values())).items():
            found[name] += min(quota, available.get(name, 0) - found[name])
        left = {name: share for name, share in left.items() if found[name] < available.get(name, 0)}
    return found
