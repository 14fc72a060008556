"""Every part of an examination: the list that the battery runs and the contract suite holds to its rules.

How to add one: a function `examine_x(prepared) -> Part` in the folder of its question, an entry here, and the wording
of its measures in `measures.yaml`. It reports progress at least once a batch (that is also where it can be
cancelled), is the same for the same `prepared.seed`, and says `missing(...)` with the reason where an input is lacking.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Literal

from engine.corpus.build import KEPT_PREFIX
from engine.examine.findings.part import Part
from engine.examine.prepare import ExamineInput, Prepared

Need = Literal["holdout", "spans", "embedder", "detector", "labels", "canaries", "columns", "models"]

CANARIES = "x_canary"  # the column that names the canary planted in a record


def task_columns(given: ExamineInput) -> list[str]:
    """Return the columns of private records that the synthetic ones do not carry, in the order of the file.

    Those kept at import, and the label before them where no synthetic record has one.
    """
    bare = "label" not in given.synthetic or not given.synthetic["label"].notna().any()
    label = bare and "label" in given.train and bool(given.train["label"].notna().any())
    kept = [str(name) for name in given.train.columns if str(name).startswith(KEPT_PREFIX) and name != CANARIES]
    return [*(["label"] if label else []), *kept]


@dataclass(frozen=True)
class Examination:
    """One part of an examination.

    Args:
        key: stable identifier.
        title: plain name, as progress and the table of parts say it.
        module, function: where `examine_x(prepared) -> Part` is; imported when it is run.
        needs: inputs without which none of its findings has a value: a holdout, accepted spans of the training part, an
            embedder, a detector, labels of the synthetic records, canaries planted before the import, a
            column that a classifier can be asked for (kept at import, or the label where the synthetic records carry
            none), leave to train models on the synthetic text.
    """

    key: str
    title: str
    module: str
    function: str
    needs: tuple[Need, ...] = ()

    def run(self, prepared: Prepared) -> Part:
        """Return what the part finds."""
        examine: Callable[[Prepared], Part] = getattr(import_module(f"engine.examine.{self.module}"), self.function)
        return examine(prepared)

    def lacks(self, prepared: Prepared) -> tuple[Need, ...]:
        """Return which of its needs this examination does not have."""
        given, train = prepared.given, prepared.train
        there: dict[Need, bool] = {
            "holdout": len(prepared.holdout) > 0,
            "spans": train.spans is not None and len(train.spans) > 0,
            "embedder": given.embedder is not None,
            "detector": given.detector is not None,
            "labels": "label" in given.synthetic and bool(given.synthetic["label"].notna().any()),
            "canaries": CANARIES in given.train and bool(given.train[CANARIES].notna().any()),
            "columns": bool(task_columns(given)),
            "models": given.model_attacks,
        }
        return tuple(need for need in self.needs if not there[need])


EXAMINATIONS: tuple[Examination, ...] = (
    Examination("strict", "private values, strictly", "values.strict", "examine_strict", ("spans",)),
    Examination("leaks", "leaked entities", "values.leaks", "examine_leaks", ("spans",)),
    Examination("labels", "labels", "values.label_leaks", "examine_labels", ("labels", "spans")),
    Examination("originals", "original records", "repeats.originals", "examine_originals"),
    Examination("copies", "copied text", "repeats.copies", "examine_copies"),
    Examination("near_copies", "near copies", "repeats.near_copies", "examine_near_copies"),
    Examination("readable", "readability", "usefulness.wording.readable", "examine_readable"),
    Examination("closeness", "closeness", "repeats.closeness", "examine_closeness", ("embedder",)),
    Examination("found", "detected identifiers", "values.found", "examine_found", ("detector",)),
    Examination("canaries", "planted canaries", "values.canaries", "examine_canaries", ("canaries",)),
    Examination("blind", "blind baseline", "members.membership", "examine_blind", ("holdout",)),
    Examination("ngrams", "phrases of the synthetic text", "members.ngrams", "examine_ngrams", ("holdout",)),
    Examination("neighbours", "neighbours", "members.neighbours", "examine_neighbours", ("holdout",)),
    Examination("words", "a person's words", "persons.authorship", "examine_words", ("holdout",)),
    Examination("style", "a person's style", "persons.authorship", "examine_style", ("holdout",)),
    Examination("record_sets", "sets of records", "persons.record_sets", "examine_sets", ("holdout",)),
    Examination("linkage", "linked details", "persons.linkage", "examine_linkage", ("holdout", "spans")),
    Examination("attributes", "guessing attributes", "guesses.attributes", "examine_inference", ("holdout",)),
    Examination("models", "models trained on the text", "members.trained.models", "examine_model_attacks",
                ("holdout", "models")),
)  # fmt: skip

# Run behind all others: they compare what those kept.
LAST: tuple[Examination, ...] = (
    Examination("groups", "groups", "members.groups", "examine_groups"),
    Examination("people", "people at risk", "members.unit_risk", "examine_units"),
)

# Of usefulness: run beside the metrics of `usefulness.metrics`, with the same words for a lack.
USEFULNESS: tuple[Examination, ...] = (
    Examination("tone", "sentiment", "usefulness.mixture.tone", "examine_tone", ("embedder",)),
    Examination("entity_mix", "types of details", "usefulness.mixture.entity_mix", "examine_entity_mix", ("detector",)),
    Examination("label_agreement", "labels that fit their text", "usefulness.downstream.label_agreement",
                "examine_label_agreement", ("labels",)),
    Examination("reference_loss", "surprise under public text", "usefulness.wording.reference_loss",
                "examine_reference_loss"),
    Examination("cost", "what it took", "usefulness.cost", "examine_cost"),
    Examination("language", "a language model's next words", "usefulness.downstream.language_model", "examine_language",
                ("holdout", "models")),
    Examination("downstream", "a classifier trained on the text", "usefulness.downstream.downstream",
                "examine_downstream", ("holdout", "labels")),
    Examination("tasks", "tasks of other columns", "usefulness.downstream.tasks",
                "examine_tasks", ("holdout", "columns")),
    Examination("extraction", "an extractor trained on the text", "usefulness.downstream.extraction",
                "examine_extraction", ("holdout", "spans", "detector")),
)  # fmt: skip
