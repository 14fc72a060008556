"""Calibrate the filter's similarity stage on public text: what each threshold of the paper's Table 1 finds.

Run: python tests/benchmarks/filter_similarity.py. Deterministic (seed 0); the texts are the shipped made-up corpora.
Prints the two tables of `tests.methods.filter.calibration`.

VALUES: of 400 direct identifiers of five letters and digits or more, put into sentences, the share found as they are,
in another way of writing, and after one, two and three random edits; and of 40,000 words of another corpus, how many
windows are near a value without being one, a 10,000 words (the made-up corpora draw telephone numbers from one small
range and surnames from one set of syllables: most of these).

SENTENCES, with the shipped embedder: of 200 sentences that hold an identifier, the share found as they are, with one
word dropped, with another identifier in its place, and cut in half; and of 200 sentences of the same kind of text and
of another kind, the share that is near one by chance.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.corpus.samples import load_sample
from engine.corpus.text.folding import folded
from engine.methods.filter.values import KnownValues, chosen
from engine.models.builtin.embedder import load_embedder
from engine.models.builtin.everyday import everyday_words
from engine.pii.control_codes import exemption
from engine.pii.sentences import sentence_bounds

THRESHOLDS = (0.95, 0.92, 0.90, 0.85)
VALUES, WORDS, SENTENCES = 400, 40_000, 200


def identifiers(sample: str, rng: random.Random) -> list[str]:
    """Return distinct direct identifiers of a sample corpus, in a fixed random order."""
    table = load_sample(sample)
    rows = zip(table["text"], table["spans"], strict=True)
    found = {t[s["start"] : s["end"]] for t, spans in rows for s in spans if s["identifier_type"] == "direct"}
    kept = sorted(v for v in found if len(folded(v).replace(" ", "")) >= 5 and not exemption(v, "direct"))
    rng.shuffle(kept)
    return kept[:VALUES]


def edited(value: str, edits: int, rng: random.Random) -> str:
    """Return the value with letters or digits replaced by others of their kind, dropped or doubled, in other places."""
    places = rng.sample([i for i, c in enumerate(value) if c.isalnum()], edits)
    made = list(value)
    for at in places:
        kind = "0123456789" if value[at].isdigit() else "aeinorstu"
        other = rng.choice([c for c in kind if c != value[at].lower()])
        made[at] = rng.choice([other, other, "", value[at] * 2])
    return "".join(made)


def rewritten(value: str, rng: random.Random) -> str:
    """Return the value with other marks, spacing, case or invisible characters."""
    other = {ord("-"): rng.choice(" /"), ord("/"): "-", ord("."): " ", ord(" "): rng.choice(["  ", "-"])}
    swapped = value.translate(other)
    made = rng.choice([str.upper, str.lower, str])(swapped)
    return made[: len(made) // 2] + rng.choice(["", "\u00ad", "\u200b"]) + made[len(made) // 2 :]


def table() -> dict[float, dict[str, float]]:
    """Return, a threshold, the shares found and the false finds a 10,000 words."""
    rng = random.Random(0)
    values = identifiers("clinic_letters", rng)
    known = KnownValues(values, everyday_words())
    kinds = {
        "as it is": values,
        "rewritten": [rewritten(v, rng) for v in values],
        **{f"{n} edit{'s' * (n > 1)}": [edited(v, n, rng) for v in values] for n in (1, 2, 3)},
    }
    found = {kind: [known.near(f"Then {text} was there.") for text in texts] for kind, texts in kinds.items()}
    words, chance = 0, []
    for text in load_sample("support_tickets")["text"]:
        if words >= WORDS:
            break
        words += len(text.split())
        chance.append(known.near(text))
    return {
        limit: {
            **{kind: round(sum(bool(chosen(one, limit)) for one in of) / len(of), 3) for kind, of in found.items()},
            "by chance": round(
                10_000 * sum(near.similarity < 1 for one in chance for near in chosen(one, limit)) / words, 2
            ),
        }
        for limit in THRESHOLDS
    }


def sentences(sample: str) -> list[tuple[str, str]]:
    """Return (sentence, the identifier in it), one a record, of at least six words."""
    found = []
    rows = load_sample(sample)
    for text, spans in zip(rows["text"], rows["spans"], strict=True):
        direct = [(s["start"], s["end"]) for s in spans if s["identifier_type"] == "direct"]
        for a, b in sentence_bounds([text])[0]:
            inside = [text[s:e] for s, e in direct if a <= s and e <= b]
            if inside and len(text[a:b].split()) >= 6:
                found.append((text[a:b], inside[0]))
                break
    return found


def sentence_table() -> dict[float, dict[str, float]]:
    """Return, a threshold, the shares of sentences whose embedding is as near to a known sentence's."""
    rng = random.Random(0)
    every = sentences("clinic_letters")
    rng.shuffle(every)
    own, others = every[:SENTENCES], [text for text, _ in every[SENTENCES : 2 * SENTENCES]]
    values = [value for _, value in own]
    kinds = {
        "as it is": [text for text, _ in own],
        "a word less": [without_a_word(text, rng) for text, _ in own],
        "another value": [text.replace(v, values[(i + 1) % len(values)]) for i, (text, v) in enumerate(own)],
        "half of it": [" ".join(text.split()[: len(text.split()) // 2]) for text, _ in own],
    }
    chance = {"same kind": others, "another kind": [text for text, _ in sentences("support_tickets")[:SENTENCES]]}
    embedder = load_embedder()
    known = embedder.embed(kinds["as it is"])
    near = {kind: (embedder.embed(texts) * known).sum(1) for kind, texts in kinds.items()}
    near |= {kind: (embedder.embed(texts) @ known.T).max(1) for kind, texts in chance.items()}
    return {
        limit: {kind: round(float((of >= limit - 1e-4).mean()), 3) for kind, of in near.items()} for limit in THRESHOLDS
    }


def without_a_word(text: str, rng: random.Random) -> str:
    """Return the text without one of its words."""
    words = text.split()
    words.pop(rng.randrange(len(words)))
    return " ".join(words)


if __name__ == "__main__":
    for name, found in (("VALUES", table()), ("SENTENCES", sentence_table())):
        print(f"{name}: Mapping[float, Mapping[str, float]] = {{")
        for limit, row in found.items():
            print(f"    {limit}: {row},".replace("'", '"'))
        print("}  # fmt: skip")
