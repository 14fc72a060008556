"""Private data behind mechanisms: the only way a `dp` method touches records.

Privacy posture: it hands out noisy statistics only, and names no content in messages. Each call opens the data
once, adds the noise, records an event and stores the output before the caller sees it; a stored output is
returned again instead of being redrawn.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.corpus.label_rules import LONGEST_LABEL, MOST_LABELS
from engine.dp.events import (
    Event,
    Noise,
    Whom,
    WhomHowMuch,
    count_sensitivity,
    mean_sensitivity,
    vector_sensitivity,
)
from engine.dp.noise import cells, choice, label_list, mechanisms, prediction, sums, votes
from engine.dp.noise.outputs import OutputStore, digest
from engine.dp.noise.private_data import PrivateData
from engine.errors import InternalError

if TYPE_CHECKING:
    from engine.dp.noise.train import Learner, Progress, Trainer, Training
    from engine.dp.noise.train_store import MemoryKeeper

__all__ = ["Measure", "Mechanisms", "PrivateData"]

Measure = Callable[[str], int]


class Mechanisms:
    """Data-bound noisy statistics of one run.

    Args:
        data: the private records; None where only choices among given candidates are made.
        outputs: where outputs are kept. unit, cap, adjacency: whom the events protect.
    """

    def __init__(
        self,
        data: PrivateData | None,
        outputs: OutputStore,
        *,
        unit: str = "record",
        cap: int = 1,
        adjacency: str = "zero-out",
    ) -> None:
        if data is not None and (data.unit, data.cap) != (unit, 1 if unit == "record" else cap):
            raise InternalError("mechanisms and private data differ in unit or cap")
        self._data, self._outputs = data, outputs
        self.unit, self.adjacency = unit, adjacency
        self.cap = 1 if unit == "record" else cap
        self.events: list[Event] = []
        self._topics = (0, "")  # how many public topics records carry, and which
        self._trainers: dict[str, Trainer] = {}
        self._kept: dict[str, MemoryKeeper] = {}

    def noisy_votes(
        self,
        key: str,
        embeddings: NDArray[np.float32],
        *,
        fingerprint: str,
        noise_multiplier: float | None = None,
        epsilon: float | None = None,
        sampling_probability: float = 1.0,
        groups: Sequence[str] | None = None,
        edges: Sequence[int] | None = None,
        by_label: bool = True,
        clusters: NDArray[np.int64] | None = None,
        what: str = "votes",
    ) -> NDArray[np.float64]:
        """Return, for each candidate (or cluster of them), how many records are nearest to it, with noise.

        Args:
            key: names this output within the run. embeddings: candidates, (c, d) unit rows.
            fingerprint: digest of the candidates; a resumed run must come with the same.
            noise_multiplier: Gaussian noise over sensitivity; or epsilon: Laplace noise of that pure loss.
            sampling_probability: chance that a unit votes at all, with Gaussian noise only.
            groups: a label a candidate, or with `edges` a class (`engine.dp.noise.classes`); records vote within their
                own. edges: of length classes in words, public. by_label: whether labels make classes too.
            clusters: (c,) from 0, to add votes up in.
        """
        noise = self._noise(noise_multiplier, epsilon)
        if noise_multiplier is None and sampling_probability != 1.0:
            raise InternalError("sampling_probability: sampled votes need Gaussian noise")
        event = Event(what=what, sampling_probability=sampling_probability, **noise)
        size = len(embeddings) if clusters is None else int(np.max(clusters, initial=-1)) + 1
        request = self._request(
            "votes", event, fingerprint=fingerprint, size=size, groups=digest(groups), clusters=digest(clusters),
            **({} if edges is None else {"edges": list(edges), "by_label": by_label}),
        )  # fmt: skip

        def counts(data: PrivateData) -> NDArray[np.float64]:
            taking_part = mechanisms.poisson_sample(data.units, sampling_probability)[data.unit_of]
            own = data.labels if edges is None else data.classes(edges, by_label)
            labels = [label for label, kept in zip(own, taking_part) if kept]
            chosen = votes.nearest(
                data.embeddings()[taking_part],
                votes.quantised(embeddings),
                labels if groups is not None else None,
                groups,
            )
            chosen = chosen[chosen >= 0]
            if clusters is not None:
                chosen = np.asarray(clusters, dtype=np.int64)[chosen]
            return self._with_noise(np.bincount(chosen, minlength=size), event)

        return self._output(key, request, event, counts)

    def noisy_scores(
        self,
        key: str,
        embeddings: NDArray[np.float32],
        *,
        fingerprint: str,
        noise_multiplier: float,
        groups: Sequence[str] | None = None,
        what: str = "dense votes",
    ) -> NDArray[np.float64]:
        """Return the sum of units' clipped scores of every candidate, with Gaussian noise; see `engine.dp.noise.votes`.

        Args:
            key: names this output within the run. embeddings: candidates, (c, d) unit rows.
            fingerprint: digest of the candidates; a resumed run must come with the same.
            noise_multiplier: noise over sensitivity, which is 1 a unit (2 under replace-one) whatever its cap.
            groups: a label a candidate; records score their own.
        """
        event = Event(
            "gaussian", what, noise_multiplier=noise_multiplier, geometry="vectors",
            **self._whom(vector_sensitivity(1.0, self.adjacency)),
        )  # fmt: skip
        request = self._request("scores", event, fingerprint=fingerprint, size=len(embeddings), groups=digest(groups))

        def scores(data: PrivateData) -> NDArray[np.float64]:
            steps = votes.dense(
                data.embeddings(), votes.quantised(embeddings), data.unit_of,
                data.labels if groups is not None else None, groups,
            )  # fmt: skip
            return self._with_noise(steps / mechanisms.GRID, event)

        return self._output(key, request, event, scores)

    def noisy_sum(
        self,
        key: str,
        read: sums.Reader,
        size: int,
        *,
        fingerprint: str,
        noise_multiplier: float,
        what: str,
        labels: Sequence[str] = (),
        label_share: float = 0.0,
    ) -> NDArray[np.float64]:
        """Return the noisy sum of units' mean vectors, each cut to length 1, and of their labels behind it.

        Args:
            key: names this output within the run. read: public; texts to vectors (n, size), each text by itself.
            fingerprint: digest of the reader; a resumed run must come with the same.
            noise_multiplier: Gaussian noise over sensitivity, which is 1 a unit (2 under replace-one).
            labels: the public list, where labels are counted. label_share: theirs; see `engine.dp.noise.sums`.
        """
        event = Event(
            "gaussian", what, noise_multiplier=noise_multiplier, geometry="vectors",
            **self._whom(vector_sensitivity(1.0, self.adjacency)),
        )  # fmt: skip
        request = self._request(
            "sum", event, fingerprint=fingerprint, size=size, labels=digest(labels), share=label_share
        )  # fmt: skip

        def total(data: PrivateData) -> NDArray[np.float64]:
            return self._with_noise(sums.clipped_sum(data, read, size, labels, label_share) / mechanisms.GRID, event)

        return self._output(key, request, event, total)

    def noisy_histogram(
        self,
        key: str,
        feature: str,
        bins: Sequence[str] | Sequence[float],
        *,
        noise_multiplier: float | None = None,
        epsilon: float | None = None,
        measure: Measure | None = None,
        edges: Sequence[int] | None = None,
        by_label: bool = True,
        what: str | None = None,
    ) -> NDArray[np.float64]:
        """Return noisy counts a bin.

        Args:
            key: names this output within the run. feature: `label`, `length` or `class`.
            bins: `label`: the public list of labels; `length`: n + 1 ascending edges of n bins, the last one
                closed; `class`: names of classes. Records outside are not counted.
            edges, by_label: of classes, as in `noisy_votes`.
            noise_multiplier: Gaussian noise over sensitivity; or epsilon: Laplace noise of that pure loss.
            measure: public length of a text; words by default.
        """
        event = Event(what=what or f"{feature} histogram", **self._noise(noise_multiplier, epsilon))
        request = self._request(
            "histogram", event, feature=feature, bins=digest(bins),
            **({} if edges is None else {"edges": list(edges), "by_label": by_label}),
        )  # fmt: skip

        def counts(data: PrivateData) -> NDArray[np.float64]:
            if feature == "label":
                exact = np.array([data.labels.count(str(label)) for label in bins], dtype=np.int64)
            elif feature == "length":
                exact = np.histogram(data.lengths(measure), bins=np.asarray(bins, dtype=float))[0]
            elif feature == "class" and edges is not None:
                own = data.classes(edges, by_label)
                exact = np.array([own.count(str(name)) for name in bins], dtype=np.int64)
            else:
                raise InternalError(f"feature {feature!r} has no histogram")
            return self._with_noise(exact, event)

        return self._output(key, request, event, counts)

    def noisy_label_list(
        self, key: str, *, noise_multiplier: float, delta: float, what: str = "label list"
    ) -> dict[str, float]:
        """Return the labels whose noisy number of records reaches a threshold, with that number, sorted.

        Args:
            key: names this output within the run. noise_multiplier: Gaussian noise over sensitivity. delta: most
                that a label which one unit alone has may be released with; see `engine.dp.noise.label_list`.
        """
        event = Event(
            "gaussian", what, noise_multiplier=noise_multiplier, delta=delta,
            **self._whom(count_sensitivity(self.cap, self.adjacency, "l2")),
        )  # fmt: skip
        request = self._request("label list", event, longest=LONGEST_LABEL, most=MOST_LABELS)

        def chosen(data: PrivateData) -> NDArray[np.float64]:
            sigma = noise_multiplier * event.sensitivity
            least = label_list.threshold(self.cap, sigma, delta)
            return label_list.as_rows(label_list.released(label_list.countable(data.labels), sigma, least))

        return label_list.from_rows(self._output(key, request, event, chosen))

    def keep_labels(self, labels: Collection[str]) -> None:
        """Let labels outside a list, public or bought, count as none in everything drawn from now on."""
        if self._data is not None:
            self._data.keep_labels(labels)

    def keep_topics(self, centres: NDArray[np.float32]) -> None:
        """Let each record carry the nearest of these public centres in everything drawn from now on."""
        if self._data is not None:
            self._data.keep_topics(centres)
        self._topics = (len(centres), hashlib.sha256(np.ascontiguousarray(centres).tobytes()).hexdigest())

    def _topic_request(self) -> dict[str, object]:
        """Return what a request says of the topics that records carry; nothing where they carry none."""
        return {"topics": self._topics[1]} if self._topics[0] else {}

    def noisy_cells(
        self, key: str, asked: Sequence[cells.Cell], *, noise_multiplier: float, what: str = "joint histogram"
    ) -> NDArray[np.float64]:
        """Return the noisy number of records in each of several disjoint cells; see `engine.dp.noise.cells`.

        Args:
            key: names this output within the run. asked: label, topics and lengths of each; `keep_topics` comes first.
            noise_multiplier: Gaussian noise over sensitivity.
        """
        number, centres = self._topics
        cells.check_cells(asked, number)
        event = Event(what=what, **self._noise(noise_multiplier, None))
        request = self._request("cells", event, cells=digest([vars(one) for one in asked]), centres=centres)
        return self._output(key, request, event, lambda data: self._with_noise(cells.counts(data, asked), event))

    def above_threshold(
        self,
        key: str,
        feature: str = "length",
        *,
        queries: Sequence[float],
        direction: str,
        threshold: float = 0.0,
        epsilon: float,
        measure: Measure | None = None,
        what: str | None = None,
    ) -> int:
        """Return the index of the first query whose noisy count is at most the noisy threshold, or their number.

        Args:
            key: names this output within the run. feature: `length`. queries: lengths in the order asked; how many
                there are is public. direction: count records longer (`above`) or shorter (`below`) than the query.
            threshold: public. epsilon: pure loss of the whole search. measure: public length of a text.
        """
        if feature != "length" or direction not in ("above", "below"):
            raise InternalError(f"search over {feature!r}, {direction!r} does not exist")
        # One unit changes each count by at most its records, whatever the adjacency.
        event = Event("pure", what or "length search", epsilon=epsilon, **self._whom(float(self.cap)))
        request = self._request("search", event, queries=digest(queries), direction=direction, threshold=threshold)

        def search(data: PrivateData) -> NDArray[np.float64]:
            lengths = np.sort(data.lengths(measure))
            if direction == "above":
                counts = (len(lengths) - int(np.searchsorted(lengths, query, side="right")) for query in queries)
            else:
                counts = (int(np.searchsorted(lengths, query, side="left")) for query in queries)
            found = mechanisms.first_at_most(counts, threshold, epsilon, float(self.cap))
            return np.array([len(queries) if found is None else found], dtype=np.float64)

        return int(self._output(key, request, event, search)[0])

    def noisy_mean(
        self, key: str, feature: str = "self_similarity", *, epsilon: float, what: str | None = None
    ) -> float:
        """Return the mean cosine, clipped to [0, 1], over all pairs of units, with Laplace noise; not clipped again.

        N is public; one unit changes the mean by at most 2/N, however many records it has.
        """
        if feature != "self_similarity":
            raise InternalError(f"feature {feature!r} has no mean")
        sensitivity = mean_sensitivity(self._bound().units)
        event = Event("laplace", what or "self-similarity mean", epsilon=epsilon, **self._whom(sensitivity))
        request = self._request("mean", event, feature=feature)

        def mean(data: PrivateData) -> NDArray[np.float64]:
            # In units of its own sensitivity, so that the noise is as wide for a million units as for ten. Rounding
            # to the grid can move neighbouring values apart by one step more.
            value = votes.mean_similarity(data.embeddings(), data.unit_of, data.units) / sensitivity
            return sensitivity * mechanisms.laplace([value], (1.0 + 1.0 / mechanisms.GRID) / epsilon)

        return float(self._output(key, request, event, mean)[0])

    def declared(self, key: str, feature: str, bins: Sequence[str] | None = None) -> NDArray[np.float64]:
        """Return a statistic without noise, because the custodian declared it public.

        Args:
            key: names this output within the run. feature: `label` (records a label), `length` (words a record,
                sorted) or `self_similarity`. bins: the public list of labels; by default those that occur, sorted.
        """
        event = Event("declared", f"{feature.replace('_', ' ')} declared public", **self._whom(0.0))
        request = self._request("declared", event, feature=feature, bins=digest(bins))

        def exact(data: PrivateData) -> NDArray[np.float64]:
            if feature == "label":
                found = bins if bins is not None else sorted({label for label in data.labels if label is not None})
                return np.array([data.labels.count(label) for label in found], dtype=np.float64)
            if feature == "length":
                return np.sort(data.lengths(None)).astype(np.float64)
            if feature == "self_similarity":
                return np.array([votes.mean_similarity(data.embeddings(), data.unit_of, data.units)])
            raise InternalError(f"feature {feature!r} cannot be declared")

        return self._output(key, request, event, exact)

    def noisy_selection(
        self, key: str, utilities: NDArray[np.float64], *, sigma: float | None = None, epsilon: float | None = None
    ) -> NDArray[np.int64]:
        """Return, for each row, the candidate chosen by noisy utility; a claim about given candidates only.

        Args:
            key: names this output within the run. utilities: (n, K), each changing by at most 1.
            sigma: Gaussian noise on each utility; or epsilon: pure loss of a row's choice (exponential mechanism).
        """
        if (sigma is None) == (epsilon is None):
            raise InternalError("selection: give either sigma or epsilon")
        table = np.atleast_2d(np.asarray(utilities, dtype=np.float64))
        loss = {"noise_multiplier": sigma} if epsilon is None else {"epsilon": epsilon}
        event = Event("selection", "candidate", count=max(1, len(table)), **self._whom(1.0), **loss)
        request = self._request("selection", event, shape=list(table.shape))

        def choose() -> NDArray[np.float64]:
            if sigma is not None:
                return mechanisms.gaussian_argmax(table, sigma).astype(np.float64)
            return mechanisms.noisy_argmax(table, float(epsilon or 0.0)).astype(np.float64)

        return self._once(key, request, event, choose).astype(np.int64)

    def noisy_choice(
        self, key: str, sets: Sequence[NDArray[np.float32]], *, fingerprint: str, epsilon: float, what: str
    ) -> int:
        """Return the set of texts that stands nearest to most units, by noisy points (exponential mechanism).

        Args:
            key: names this output within the run. sets: embeddings of each set's texts, (m, d), public or protected.
            fingerprint: digest of the sets. epsilon: pure loss of the choice, whichever the adjacency.
        """
        event = Event("pure", what, epsilon=epsilon, **self._whom(1.0))
        request = self._request("choice", event, fingerprint=fingerprint, sizes=[len(one) for one in sets])

        def chosen(data: PrivateData) -> NDArray[np.float64]:
            found = choice.points(data.embeddings(), data.unit_of, [votes.quantised(one) for one in sets])
            return self._best(found, epsilon, choice.moved(len(sets), self.adjacency))

        return int(self._output(key, request, event, chosen)[0])

    @staticmethod
    def _best(points: NDArray[np.int64], epsilon: float, sensitivity: float) -> NDArray[np.float64]:
        return mechanisms.noisy_argmax(points[None, :], epsilon, sensitivity).astype(np.float64)

    def private_logits(
        self,
        turn: int,
        cell: int,
        cells: Sequence[prediction.Cell],
        model: prediction.TokenModel,
        asked: prediction.Prediction,
        *,
        fingerprint: str,
    ) -> NDArray[np.int64]:
        """Return the tokens of one text that a batch of private records had a say in.

        The first batch pays each turn for all of them: they read disjoint units.

        Args:
            turn: which text of every batch. cell: which of `cells`, all batches of the run. model: a language model
                with its prompts. asked: public settings. fingerprint: digest of model and prompts.
        """
        prediction.check_disjoint(cells)
        whom: Whom = {"unit": self.unit, "adjacency": self.adjacency}
        paid, pays = f"text/{turn}/0", cell == 0
        event = (prediction.event_of if pays else prediction.parallel_of)(asked, whom)
        table = digest([one.stored() for one in cells])
        request = self._request(
            "private logits", event, settings=asdict(asked), cells=table, cell=cell, fingerprint=fingerprint,
            **self._topic_request(),
        )  # fmt: skip
        if not pays:
            first = self._outputs.load(paid)
            if first is None or first.request["cells"] != table or first.request["settings"] != request["settings"]:
                raise InternalError(f"{paid!r} has not been drawn with these settings; nothing pays for this text")

        def draw(data: PrivateData) -> NDArray[np.float64]:
            texts = cells[cell].rows(data, asked.rows)
            return prediction.draw_text(texts, model, asked, cells[cell].slots).astype(np.float64)

        return self._output(f"text/{turn}/{cell}", request, event, draw).astype(np.int64)

    def train_dp(
        self,
        key: str,
        learner: Learner,
        asked: Training,
        *,
        fingerprint: str,
        folder: Path | None = None,
        until: int | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Progress:
        """Train `learner` with noise up to a step, and return how far it is; the whole schedule is paid at first.

        Args:
            key: names this training within the run. learner: weights at their public start. asked: public settings.
            fingerprint: digest of network, start and prompts. folder: where steps are stored; None keeps them in
                this object. until: the step to stop at, None for all. cancelled: asked between parts of a batch.

        Raises:
            UserError: the training is paid and its stored steps are gone.
        """
        from engine.dp.noise import train, train_store

        trainer = self._trainers.get(key)
        if trainer is None or trainer.learner is not learner:
            event = train.event_of(asked, self.unit, self.adjacency)
            request = self._request(
                "training", event, settings=asdict(asked), fingerprint=fingerprint,
                **self._topic_request(),
            )  # fmt: skip
            kept = (
                train_store.FolderKeeper(folder)
                if folder is not None
                else self._kept.setdefault(key, train_store.MemoryKeeper())
            )
            spent = self._outputs.load(key) is not None
            trainer = train.Trainer(learner, asked, event, kept, digest(request), spent=spent)
            # The weights' public start is stored, then the cost of every step, and only then is the first one drawn.
            self._output(key, request, event, trainer.begin)
            self._trainers[key] = trainer
        trainer.advance(self._bound(), asked.steps if until is None else until, cancelled)
        return trainer.progress()

    def _bound(self) -> PrivateData:
        if self._data is None:
            raise InternalError("these mechanisms hold no private data")
        return self._data

    def _whom(self, sensitivity: float) -> WhomHowMuch:
        return {"sensitivity": sensitivity, "unit": self.unit, "adjacency": self.adjacency}

    def _noise(self, noise_multiplier: float | None, epsilon: float | None) -> Noise:
        """Return the event's noise, sensitivity and neighbours for counts."""
        if (noise_multiplier is None) == (epsilon is None):
            raise InternalError("counts: give either noise_multiplier or epsilon")
        if epsilon is None:
            whom = self._whom(count_sensitivity(self.cap, self.adjacency, "l2"))
            return {"type": "gaussian", "noise_multiplier": noise_multiplier, **whom}
        return {"type": "laplace", "epsilon": epsilon, **self._whom(count_sensitivity(self.cap, self.adjacency, "l1"))}

    @staticmethod
    def _with_noise(counts: ArrayLike, event: Event) -> NDArray[np.float64]:
        if event.type == "gaussian":
            return mechanisms.gaussian(counts, float(event.noise_multiplier or 0.0) * event.sensitivity)
        return mechanisms.laplace(counts, event.sensitivity / float(event.epsilon or 0.0))

    def _request(self, mechanism: str, event: Event, **values: object) -> dict[str, object]:
        return {"mechanism": mechanism, "event": event.as_dict(), "cap": self.cap, **values}

    def _output(
        self,
        key: str,
        request: Mapping[str, object],
        event: Event,
        draw: Callable[[PrivateData], NDArray[np.float64]],
    ) -> NDArray[np.float64]:
        """Return what is stored under the key, else draw it from the opened data, store and return it."""
        return self._once(key, request, event, lambda: draw(self._bound().open()))

    def _once(
        self, key: str, request: Mapping[str, object], event: Event, draw: Callable[[], NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Return what is stored under the key, else draw, store and return it."""
        stored = self._outputs.load(key)
        if stored is None:
            values = np.asarray(draw(), dtype=np.float64)
            self._outputs.save(key, request, event, values)
        elif digest(stored.request) != digest(request):
            raise InternalError(
                f"mechanism output {key!r} was drawn for another request; it cannot be used for this one"
            )
        else:
            values = stored.values
        self.events.append(event)
        return values.copy()
