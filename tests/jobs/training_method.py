"""A method that trains: it dies once in the middle and says where its training began after that.

`main` is a worker whose registry holds it; the product has no hook for this.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from pydantic import BaseModel

import engine.methods
from engine.dp.guarantee import Guarantee
from engine.methods.base import Context, Facts, MethodSpec, Plan, Step, SyntheticRecord

ENTRY = ("training", "tests.jobs.training_method", "TrainingMethod")
EPOCHS = 3


class TrainingParameters(BaseModel):
    """Whether to die, or to fail at the end."""

    die: bool = True
    fail: bool = False


class Letters:
    """A network of two layers on the letters of a text, small enough to train at once."""

    bos, eos, context = None, 0, 64

    def __init__(self):
        import torch

        torch.manual_seed(0)
        self.module = torch.nn.Sequential(torch.nn.Embedding(128, 8), torch.nn.Linear(8, 128))

    def encode(self, texts):
        """Return a number a letter."""
        return [[1 + ord(letter) % 127 for letter in text] for text in texts]

    def forward(self, ids, real):
        """Return hidden states and logits."""
        hidden = self.module[0](ids)
        return hidden, self.module[1](hidden)


class TrainingMethod:
    """Trains on the records in three epochs of one batch, then writes where the training began and how it went."""

    spec = MethodSpec(
        id="training",
        title="Training",
        summary="Trains.",
        citation="none",
        kind="none",
        needs=(),
        parameters=TrainingParameters,
        good_for="tests",
        bad_for="all else",
    )

    def guarantee(self, parameters: TrainingParameters, facts: Facts, accountant=None) -> Guarantee:
        """Promise nothing."""
        return Guarantee("none", "No formal guarantee.")

    def plan(self, parameters: TrainingParameters, facts: Facts, count: int) -> Plan:
        """Cost nothing."""
        return Plan(0, 0, 1.0, count)

    def run(self, context: Context) -> Iterator[Step]:
        """Train, dying once in the third epoch, and write one sentence."""
        from engine.models.tune.finetune import FinetuneSettings, finetune

        done: list[int] = []
        died = context.scratch / "died"

        def on_batch(batch: int, total: int) -> None:
            done.append(batch)
            if context.parameters.die and batch == EPOCHS and not died.exists():
                died.touch()
                os._exit(9)

        texts = [str(text) for text in context.records["text"]][:8]
        tuned = finetune(Letters(), texts, FinetuneSettings(epochs=EPOCHS), context.scratch / "net", on_batch=on_batch)
        if context.parameters.fail and not died.exists():
            died.touch()
            raise ValueError
        text = f"Trained {done} to {[round(loss, 6) for loss in tuned.losses]}."
        yield Step({}, (SyntheticRecord(text),), {"made": 1, "kept": 1}, "train", 1, 1)


def register() -> None:
    """Put the method into this process' registry."""
    if ENTRY not in engine.methods.REGISTRY:
        engine.methods.REGISTRY = (*engine.methods.REGISTRY, ENTRY)


if __name__ == "__main__":
    from engine.cli.worker import main

    register()
    sys.exit(main())
