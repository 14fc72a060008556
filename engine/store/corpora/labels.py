"""The labels of a corpus: what its training part holds, and the list that a person declared public.

Privacy posture: labels stand in private rows, so nothing that claims a guarantee reads them. It gets the declared list,
or none. Whoever declares a list sees how many people hold each label; that is for the eyes of the person who answers
for the list, and no run depends on it (`engine.corpus.label_rules`). The audit log says who declared how many labels,
never which.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from engine.corpus.label_rules import checked_labels, holders_in_words, label_holders, rare, unusual
from engine.errors import UserError
from engine.store.corpora.corpora import Corpora, declarations
from engine.store.session import Session
from engine.store.summaries import corpus_row
from engine.store.views import LabelList

if TYPE_CHECKING:
    from engine.corpus.statistics import CorpusStatistics

Rare = Literal["refuse", "leave-out", "include"]


class Labels:
    """The labels of a corpus, and the list of them that a person declared public."""

    def __init__(self, session: Session, corpora: Corpora) -> None:
        self.session = session
        self.corpora = corpora

    def counts(self, corpus_id: str) -> dict[str, int]:
        """Return label -> records of the training part, commonest first; private, for inside eyes only."""
        return self._counts(corpus_id, self.corpora.statistics(corpus_id))

    def _counts(self, corpus_id: str, statistics: CorpusStatistics) -> dict[str, int]:
        found = statistics.train_labels
        if found is None:  # imported by the first edition
            column = self.corpora.frame(corpus_id, "train", ["label", "split"])["label"].dropna()
            found = {str(label): int(n) for label, n in column.value_counts().items()}
        return {label: n for label, n in found.items() if label}

    def holders(self, corpus_id: str) -> dict[str, int]:
        """Return label -> people of the training part who hold it; private, for inside eyes only."""
        return self._holders(corpus_id, self.corpora.statistics(corpus_id))

    def _holders(self, corpus_id: str, statistics: CorpusStatistics) -> dict[str, int]:
        found = statistics.train_label_holders
        if found is None:  # imported by an earlier edition
            frame = self.corpora.frame(corpus_id, "train", ["label", "source_id", "split"])
            cells = frame[["label", "source_id"]].astype(object).where(frame[["label", "source_id"]].notna(), None)
            found = label_holders(list(cells["label"]), list(cells["source_id"]))
        return found

    def public(self, corpus_id: str) -> tuple[str, ...]:
        """Return the list of labels that was declared public, sorted; empty where none was."""
        with self.session.db.read() as connection:
            row = declarations.declared(connection, corpus_id, declarations.LABELS)
        return tuple(row.value) if row is not None else ()

    def known(self, corpus_id: str) -> LabelList:
        """Return the training part's labels beside the declared list, and who declared it when."""
        statistics = self.corpora.statistics(corpus_id)
        counts, holders = self._counts(corpus_id, statistics), self._holders(corpus_id, statistics)
        with self.session.db.read() as connection:
            row = declarations.declared(connection, corpus_id, declarations.LABELS)
        listed = {**counts, **dict.fromkeys(() if row is None else row.value)}
        return LabelList(
            counts=counts,
            people={label: holders_in_words(holders.get(label, 0)) for label in listed},
            rare=rare(counts, holders),
            declared=None if row is None else tuple(row.value),
            actor=None if row is None else row.actor,
            at=None if row is None else row.at,
            unusual=unusual(counts),
            people_named=statistics.people_named,
        )

    def declare(
        self,
        corpus_id: str,
        labels: Iterable[str] | None = None,
        *,
        unusual_too: bool = False,
        rare_ones: Rare = "refuse",
    ) -> LabelList:
        """Declare a list of labels public, in the name of whoever is at work here.

        Args:
            corpus_id: the corpus. labels: the list, by name; None takes the labels of the training part as they stand,
                which makes them public. unusual_too: whether the list may hold more than 50 labels or labels of more
                than 60 characters. rare_ones: what happens to labels that fewer than three people hold where the list
                is taken from the training part; a list by name stands as it was named.

        Raises:
            UserError: the list is empty, unusual without being allowed to be, or holds labels of one or two people
                where nobody said what to do with them.
        """
        known = self.counts(corpus_id)
        if labels is None and not known:
            raise UserError("labels: the training part of this corpus has none, so there is no list to declare")
        as_found, holders = labels is None, self.holders(corpus_id)
        if labels is None:
            left_out = rare(known, holders) if rare_ones == "leave-out" else ()
            labels = [label for label in known if label not in left_out]
            if not labels:
                raise UserError(
                    "labels: fewer than three people hold each label of the training part, so nothing is left to "
                    "declare; name the list yourself, or let outputs carry no labels"
                )
        found = checked_labels(labels)
        declarations.check_usual(found, unusual_too)
        few = len(rare(found, holders))
        declarations.check_held(few if as_found and rare_ones == "refuse" else 0)
        with self.session.db.write() as connection:
            corpus_row(connection, corpus_id)
            self.corpora.declare_labels(connection, corpus_id, found, as_found=as_found, few=few)
        return self.known(corpus_id)

    def withdraw(self, corpus_id: str) -> LabelList:
        """Take the declaration back: further runs with a formal guarantee write without labels."""
        with self.session.db.write() as connection:
            corpus_row(connection, corpus_id)
            if declarations.withdraw(connection, corpus_id, declarations.LABELS):
                self.session.write_audit(connection, "label list no longer public", corpus_id)
        return self.known(corpus_id)
