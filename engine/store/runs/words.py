"""Words that leave with a release, held against the private text and numbers of its run.

Privacy posture: a refusal names which of the given texts holds something, never what.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from engine.examine.findings.sizes import numbers
from engine.store.budget.ledger import Ledger
from engine.store.corpora.corpora import Corpora
from engine.store.review.spans import accepted_spans
from engine.store.review.spot.checks import SpotChecks
from engine.store.runs.examinations import Examinations
from engine.store.runs.intruder.trials import IntruderTrials, private_numbers
from engine.store.session import Session
from engine.store.views import RunSummary

if TYPE_CHECKING:
    from engine.release import Policy


class Words:
    """What words that leave must not hold, and whether they do."""

    def __init__(
        self, session: Session, corpora: Corpora, examinations: Examinations, ledger: Ledger, spot_checks: SpotChecks,
        intruder: IntruderTrials,
    ) -> None:  # fmt: skip
        self.session = session
        self.corpora = corpora
        self.examinations = examinations
        self.ledger = ledger
        self.spot_checks = spot_checks
        self.intruder = intruder

    def sources(self, run: RunSummary) -> list[str]:
        """Return what a record must not repeat: the texts the method could read, and every label.

        The labels of a `dp` run follow from a public list or were bought, so they are no copies.
        """
        frame = self.corpora.frame(run.corpus_id, None, ["text", "label", "split"])
        labels = [] if run.guarantee.kind == "dp" else [str(label) for label in frame["label"].dropna().unique()]
        return [*frame.loc[frame["split"] == "train", "text"], *labels]

    def statistics(self, run: RunSummary) -> set[float]:
        """Return numbers of this corpus and run that are private: they must not stand in words that leave."""
        known = self.corpora.statistics(run.corpus_id)
        counts = (
            known.records, known.units, known.train_records, known.train_units, known.holdout_records,
            known.holdout_units, known.duplicates, known.over_cap, known.sources, known.without_source,
            known.gold_spans, known.records_with_gold, *known.labels.values(), *(known.train_labels or {}).values(),
            *known.characters.values(), *known.words.values(),
        )  # fmt: skip
        measured = [value for found in self.examinations.findings(run.id) for value in numbers(found)]
        found = self.spot_checks.estimate(run.corpus_id)
        rates = () if found is None else [rate for rate in (found.direct, found.quasi, *found.types.values()) if rate]
        missed = [end for rate in rates for end in (rate.value, rate.low, rate.high, rate.hit)]
        missed += private_numbers(self.intruder.estimate(run.id))
        public = self.ledger.public_facts(run.corpus_id).units
        return {float(value) for value in (*counts, *measured, *missed) if value is not None} - {float(public)}

    def check_names(self, run: RunSummary, given: Mapping[str, str]) -> None:
        """Refuse texts, each under what it is, that hold a direct identifier of the corpus: one name is enough.

        Raises:
            RefusedError: one does; says which.
        """
        from engine.release.card.words import check_values

        if not given:
            return
        frame = self.corpora.frame(run.corpus_id, None, ["record_id", "text"])
        texts = dict(zip(frame["record_id"], frame["text"], strict=True))
        with self.session.db.read() as connection:
            found = accepted_spans(connection, run.corpus_id)
        found = found[found["identifier_type"] == "direct"]
        places = zip(found["record_id"], found["start"], found["end"], found["label"], strict=True)
        check_values(given, {(texts[record][start:end], str(label)) for record, start, end, label in places})

    def check(self, run: RunSummary, policy: Policy, given: Mapping[str, str]) -> None:
        """Refuse private words and numbers in texts, each under what it is; see `Releases.check_words`."""
        from engine.release.card.words import MOST_WORDS, check_typed

        if policy.requirements.whole_output:
            return
        frame = self.corpora.frame(run.corpus_id, None, ["text"])
        private = [*self.sources(run), *frame["text"]]
        longest = min(MOST_WORDS, policy.requirements.longest_copied_words or MOST_WORDS)
        check_typed(given, private, self.statistics(run), longest)
