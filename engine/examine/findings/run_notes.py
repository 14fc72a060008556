"""What a run noted on its way, read in words: internal, since some of it was computed from private text.

A note says what was measured beside what chance gives, and whether that is a problem. The pages and the command line
show the same sentences.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.examine.stats.intervals import wilson
from engine.json_types import JSON, JSONObject

_ONE_SIDED = 1.645  # 95%
_TONES = {
    "candidates": "abstractions kept the sentiment of their seed",
    "chosen": "chosen abstractions kept the sentiment of their seed",
    "outputs": "outputs have the sentiment of their seed",
    "invented": "candidates have the sentiment that was asked for",
}


@dataclass(frozen=True)
class Note:
    """One thing noted: its name, a sentence, whether it is a problem, and the numbers behind it."""

    name: str
    sentence: str
    problem: bool = False
    values: Mapping[str, float] = field(default_factory=dict)

    def as_dict(self) -> dict[str, JSON]:
        """Return the note ready for JSON."""
        return {"name": self.name, "sentence": self.sentence, "problem": self.problem, **self.values}


def read(diagnostics: JSONObject) -> list[Note]:
    """Return what can be said of a run's notes.

    Args:
        diagnostics: numbers by name, as the store keeps them.
    """
    found = [_votes(diagnostics), *(_tone(diagnostics, name) for name in _TONES), _choice(diagnostics)]
    return [note for note in found if note is not None]


def _numbers(value: JSON) -> dict[str, float]:
    """Return the numbers of a mapping by name; nothing where it is none."""
    held = value.items() if isinstance(value, Mapping) else ()
    return {key: float(number) for key, number in held if isinstance(number, int | float)}


def _votes(diagnostics: JSONObject) -> Note | None:
    """Return how many votes the last round's survivors keep, beside chance."""
    rounds = diagnostics.get("rounds")
    numbered = {int(key): _numbers(body) for key, body in rounds.items()} if isinstance(rounds, Mapping) else {}
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


def _tone(diagnostics: JSONObject, name: str) -> Note | None:
    """Return how many texts have the sentiment they should have, with its interval, beside chance.

    Chance is what texts with the same sentiments, dealt to the seeds at random, would have in common with them.
    """
    tone = diagnostics.get("tone")
    held = tone.get(name) if isinstance(tone, Mapping) else None
    counts = _numbers(held)
    if not isinstance(held, Mapping) or not counts.get("texts"):
        return None
    size, agreeing = counts["texts"], counts["agreeing"]
    share = agreeing / size
    sound = size / _design_effect(share, counts)
    seeds, texts = _numbers(held["of_seeds"]), _numbers(held["of_texts"])
    chance = sum(n * texts.get(key, 0) for key, n in seeds.items()) / size**2
    low, high = wilson(share * sound, sound)
    words = f"{agreeing:,.0f} of {size:,.0f} {_TONES[name]}: {share:.0%} (95% interval {low:.0%} to {high:.0%})"
    beaten = low > chance
    return Note(
        f"tone_{name}",
        f"{words}, chance {chance:.0%}." + ("" if beaten else " That cannot be told from chance."),
        not beaten,
        {"value": share, "low": low, "high": high, "chance": chance, "n": size},
    )


def _design_effect(share: float, counts: Mapping[str, float]) -> float:
    """Return by how much texts of one seed, being alike, make the share less certain than as many seeds would.

    Source: Kish 1965, section 5.4 (variance of a ratio over clusters against that of a simple sample).
    """
    size = float(counts["texts"])
    simple = size * share * (1.0 - share)
    clustered = counts["aa"] - 2.0 * share * counts["am"] + share**2 * counts["mm"]
    return max(1.0, float(clustered / simple) if simple > 0 else float(counts["mm"]) / size)


def _choice(diagnostics: JSONObject) -> Note | None:
    """Return how often the noisy choice among a seed's abstractions took the best one, beside chance."""
    counts = _numbers(diagnostics.get("fidelity"))
    if not counts.get("seeds") or "best_by_chance" not in counts:
        return None
    size = counts["seeds"]
    share, chance = counts["best_chosen"] / size, counts["best_by_chance"] / size
    low, high = wilson(counts["best_chosen"], size)
    beaten = low > chance
    end = "" if beaten else " With this noise the choice does nothing that can be told from chance."
    return Note(
        "best_chosen",
        f"The best abstraction of a seed was chosen in {counts['best_chosen']:,.0f} of {size:,.0f} cases: {share:.0%} "
        f"(95% interval {low:.0%} to {high:.0%}), chance {chance:.0%}.{end}",
        not beaten,
        {"value": share, "low": low, "high": high, "chance": chance, "n": size},
    )
