"""Writing in batches that depend on no other: the loop behind the methods that write from public or paid inputs.

What a batch writes follows from the run's seed, where it begins and what it is asked for. What failed in it waits until
everything was asked for once, and is asked for again then: no batch has to know what became of another, so that several
workers can share them (`Context.spread`). Whether the model is of any use is judged in the order of the batches.

Privacy posture: as of its callers; nothing here sees a record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from engine.errors import UserError
from engine.json_types import JSON, as_list, as_number, as_object
from engine.methods.base import Context, Make, Piece, Step, SyntheticRecord

TRIES = 4  # times as many texts as are wanted
ENOUGH = 8  # texts of a first batch without any usable one after which the model is given up
WAITING, FAILED = "waiting", "failed"


def written(
    context: Context,
    state: Mapping[str, Any],
    size: int,
    label_of: Callable[[Any], str | None],
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
    state = {FAILED: [], **state}
    while state["kept"] < context.count and not context.cancelled():
        if not state[WAITING]:
            state = {**state, WAITING: state[FAILED], FAILED: []}
        begin, asked = int(state["position"]), list(state[WAITING])
        starts = range(0, len(asked), size)
        pieces = [Piece(begin + i, begin + min(i + size, len(asked)), asked[i : i + size]) for i in starts]
        for piece, found in zip(pieces, context.spread(pieces, known, make), strict=False):
            if piece.start > TRIES * context.count + 32:
                raise UserError(
                    f"{model} gave {state['kept']} usable texts of {context.count} wanted after {piece.start} tries: "
                    f"{advice}"
                )
            step = _step(context, state, piece, found, label_of)
            state = dict(step.state)
            yield step
            if context.cancelled():
                return


def _step(
    context: Context, state: Mapping[str, Any], piece: Piece, found: Mapping[str, JSON],
    label_of: Callable[[Any], str | None],
) -> Step:  # fmt: skip
    texts, dropped = as_list(found["texts"]), as_object(found["dropped"])
    asked, tried = as_list(piece.asked), int(as_number(found["made"]) or 0)
    if tried >= ENOUGH and not state["kept"] and not any(texts):
        raise UserError(
            f"the model gave no usable text for {tried} prompts ({', '.join(sorted(dropped))}): check the model, or "
            "ask for other words or another domain"
        )
    made = [
        SyntheticRecord(str(text), label_of(one)) for text, one in zip(texts, asked, strict=True) if text is not None
    ]
    left = [one for text, one in zip(texts, asked, strict=True) if text is None]
    counts = {name: int(as_number(count) or 0) for name, count in dropped.items()}
    after = {
        **state,
        "position": piece.end,
        "kept": state["kept"] + len(made),
        WAITING: list(state[WAITING])[len(asked) :],
        FAILED: [*state[FAILED], *left],
    }
    funnel = {"made": tried, **counts, "kept": len(made)}
    return Step(after, tuple(made), funnel, "generating", after["kept"], context.count)
