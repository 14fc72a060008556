"""What a run noted on its way, read in words: internal, since some of it was computed from private text.

A note says what was measured beside what chance gives, and whether that is a problem. The pages and the command line
show the same sentences.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_ONE_SIDED = 1.645  # 95%


@dataclass(frozen=True)
class Note:
    """One thing noted: its name, a sentence, whether it is a problem, and the numbers behind it."""

    name: str
    sentence: str
    problem: bool = False
    values: Mapping[str, float] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the note ready for JSON."""
        return {"name": self.name, "sentence": self.sentence, "problem": self.problem, **self.values}


def read(diagnostics: Mapping[str, Any]) -> list[Note]:
    """Return what can be said of a run's notes.

    Args:
        diagnostics: numbers by name, as the store keeps them.
    """
    return [note for note in (_votes(diagnostics),) if note is not None]


def _votes(diagnostics: Mapping[str, Any]) -> Note | None:
    """Return how many votes the last round's survivors keep, beside chance."""
    rounds = diagnostics.get("rounds")
    numbered = {int(key): body for key, body in rounds.items()} if isinstance(rounds, Mapping) else {}
    measured = {key: body for key, body in numbered.items() if "votes_chance" in body}
    if not measured:
        return None
    last = max(measured)
    body = measured[last]
    chance = float(body["votes_chance"])
    where = f"in round {last}, the last" if last > 1 else "in the only round"
    advice = "Ask for fewer outputs or rounds, or for a larger ε."
    if "true_votes_kept" not in body:
        return Note(
            "votes_kept",
            f"Votes kept: cannot be told, chance {chance:.2f}. The noise hides how many votes there were {where}. "
            f"{advice}",
            True,
            {"chance": chance, "round": float(last)},
        )
    share, error = float(body["true_votes_kept"]), float(body["true_votes_error"])
    values = {"value": share, "error": error, "chance": chance, "round": float(last)}
    start = f"Votes kept: {share:.2f} ± {2 * error:.2f}, chance {chance:.2f} ({where}; the noise's own luck taken off)."
    if share - _ONE_SIDED * error > chance:
        return Note("votes_kept", f"{start} What survived is what private records voted for.", False, values)
    return Note(
        "votes_kept",
        f"{start} That is no more than chance: private records had no say that can be told from noise. {advice}",
        True,
        values,
    )
