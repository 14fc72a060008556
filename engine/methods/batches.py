"""Writing in batches that depend on no other: the loop behind the methods that write from public or paid inputs.

What a batch writes follows from the run's seed, where it begins and what it is asked for. What failed in it waits until
everything was asked for once, and is asked for again then: no batch has to know what became of another, so that several
workers can share them (`Context.spread`). Whether the model is of any use is judged in the order of the batches.

Privacy posture: as of its callers; nothing here sees a record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import cast

from engine.errors import UserError
from engine.json_types import JSON, JSONObject, as_list, as_number, as_object
from engine.methods.base import Context, Make, Piece, Step, SyntheticRecord

TRIES = 4  # times as many texts as are wanted
ENOUGH = 8  # texts of a first batch without any usable one after which the model is given up
WAITING, FAILED = "waiting", "failed"


def written(
    context: Context,
    state: Mapping[str, object],
    size: int,
    label_of: Callable[[JSON], str | None],
    known: JSON,
    make: Make,
    model: str,
    advice: str,
) -> Iterator[Step]:
    """Yield one step a batch until `count` texts are written.

    Args:
        state: `position`, `kept`, and what is still wanted, once (`waiting`) and again (`failed`). size: of a batch.
        label_of: the label of one that is wanted. known, make: see `Context.spread`; what is made has `texts`, one for
            each that is asked for or None, `made` and `dropped`.
        model, advice: who wrote, and what to do where it cannot, for an error's sentence.

    Raises:
        UserError: the model gives too few usable texts.
    """
    now = _State(dict(state))
    while now.kept < context.count and not context.cancelled():
        if not now.waiting:
            now.waiting, now.failed = now.failed, []
        begin, asked = now.position, now.waiting
        starts = range(0, len(asked), size)
        pieces = [Piece(begin + i, begin + min(i + size, len(asked)), asked[i : i + size]) for i in starts]
        for piece, found in zip(pieces, context.spread(pieces, known, make), strict=False):
            if piece.start > TRIES * context.count + 32:
                made = f"{model} gave {now.kept} usable texts of {context.count} wanted after {piece.start} tries"
                raise UserError(f"{made}: {advice}")
            yield now.step(piece, found, label_of, context.count)
            if context.cancelled():
                return


def plain_label(asked: JSON) -> str | None:
    """Return the label of one that is wanted where it is asked for by its label alone."""
    return None if asked is None else str(asked)


class _State:
    """Where a run's writing stands."""

    def __init__(self, before: dict[str, object]) -> None:
        self._before = before
        self.position, self.kept = (int(as_number(cast(JSON, before[name])) or 0) for name in ("position", "kept"))
        self.waiting, self.failed = (list(as_list(cast(JSON, before.get(name)))) for name in (WAITING, FAILED))

    def step(
        self, piece: Piece, found: JSONObject, label_of: Callable[[JSON], str | None], count: int
    ) -> Step:  # fmt: skip
        """Return the step of what was made of a piece, and go on behind it."""
        texts, dropped = as_list(found["texts"]), as_object(found["dropped"])
        asked, tried = as_list(piece.asked), int(as_number(found["made"]) or 0)
        if tried >= ENOUGH and not self.kept and not any(texts):
            raise UserError(
                f"the model gave no usable text for {tried} prompts ({', '.join(sorted(dropped))}): check the model, "
                "or ask for other words or another domain"
            )
        pairs = list(zip(texts, asked, strict=True))
        made = tuple(SyntheticRecord(str(text), label_of(one)) for text, one in pairs if text is not None)
        self.position, self.kept = piece.end, self.kept + len(made)
        self.waiting = self.waiting[len(asked) :]
        self.failed = [*self.failed, *(one for text, one in pairs if text is None)]
        after = {"position": self.position, "kept": self.kept, WAITING: self.waiting, FAILED: self.failed}
        counts = {name: int(as_number(number) or 0) for name, number in dropped.items()}
        funnel = {"made": tried, **counts, "kept": len(made)}
        return Step({**self._before, **after}, made, funnel, "generating", self.kept, count)
