"""What the keys and values in a line's details are called: the log holds a program's words, a page says them in ours.

How to use: `said(key, value_in_words)` for one detail; `rank(key)` for what comes first; `drawn(what)` for a noisy
answer of the ledger. What has no entry here is said by its own key, so nothing of a line is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import engine
from pages._ui.texts import CARDS, FILTERED, count_of

SHARE = "share_after"
COUNTS = {  # details that count something -> one of them
    "records": "record", "texts": "text", "labels": "label", "lines": "line", "findings": "finding",
    "spans": "identifier found", "values": "name", "populations": "group of people", "runs": "run", "units": "person",
    "prompts": "prompt", "characters": "character", "copies": "copy", "minutes": "minute", "places": "place",
}  # fmt: skip
PLURALS = {
    "spans": "identifiers found", "populations": "groups of people", "units": "people", "copies": "copies",
}  # fmt: skip
BEHIND = {  # counts that are read before their word
    "accepted": "accepted", "rejected": "rejected", "relabelled": "given another type", "added": "added",
    "taken_back": "taken back", "kept": "kept", "drawn": "drawn",
}  # fmt: skip
CALLED = {  # key -> what stands before its value
    SHARE: "limit in use after", "max_risk": "risk at most", "texts_read": "texts read to the end",
    "decisions": "decisions in all", "decisions_kept": "decisions kept", "revision": "version of the review",
    "population": "budget of", "population_joined": "ledgers joined with it",
    "population_asked": "ledgers that may be of the same people",
    "joined": "joined with", "other": "kept apart from", "held_by_few": "labels that few people have",
    "cap": "records of one person at most", "count": "texts asked for",
    "signed_by": "signed with the key", "second_person": "second person",
    "waivers": "rules waived", "kind": "kind of text",
    "domain": "kind of text", "saw": "trained on", "key": "its key is from", "host": "computer", "text": "said",
    "method": "", "job": "", "epsilon": "ε", "delta": "δ",
    "since": "after", "last": "last line", "look": "look number", "drawn_from": "drawn from", "twice": "read by two",
    "again": "opened again", "read_before": "read before", "parts": "parts of the file", "position": "text number",
    "place": "place number", "by": "by", "outcome": "which holds", "synthetic": "beside the synthetic text",
    "call": "what was asked for", "right": "right that is missing", "identity": "signed in as",
    "fields": "answers changed",
    "definition": "rules", "basis": "because of", "expires": "until", "sample": "texts read",
    "declared": "declared", "consent": "line of the consent", "bytes": "bytes", "precision": "numbers kept as",
    "embedder": "reads meaning with", "pack": "prompt pack", "format": "file", "n": "words in a piece",
    "exclude": "left out", "unit": "protects", "draws": "random numbers", "changed": "", "setting": "",
}  # fmt: skip
YES_NO = {  # key -> what it says where it is so, and where not
    "accepted_unbounded": ("a total without bound was accepted", "no total without bound was accepted"),
    "second_signed_in": ("the second person signed in", "name typed, no sign-in"),
    "quick": ("a quick look", "with trained attacks"),
    "population_known": ("of people known before", "of people new here"),
    "as_found": ("as they stand in the file", "written by hand"),
    "named": ("with a name", "without a name"),
    "noted": ("with a note", "without a note"),
}
VALUES = {  # key -> its values that are no words of ours
    "format": {"csv": "CSV", "json": "JSON"},
    "language": {"en": "English", "de": "German"}, "unit": {"source": "each person", "record": "each record"},
    "right": {
        "read": "to read", "reveal": "to see text", "review": "to review", "manage": "to manage",
        "approve": "to approve", "release": "to release", "people": "to give roles",
    },
}  # fmt: skip
FIRST = (
    "changed", "accepted", "rejected", "relabelled", "added", "texts_read", "taken_back", "kept", "records", "labels",
    "findings", "spans", "texts", "lines", "policy", "method", "count", "cap", "job", "reason", "rule", "study", "host",
)  # fmt: skip
LAST = ("corpus", "run", "decisions", "revision", "decisions_kept", "population", "population_known")
ANSWERS = {  # answers that are kept with a corpus -> where they were given, and what they are called
    "policy": "Release policy", "policy_for": "Readers for whom it was chosen", "method": "Method on Plan",
    "policy_run": "Run for which it was chosen",
    "recipients": "Readers named on Plan", "beside": "Compared with the original", "label": "Texts with a label",
    "epsilon": "Privacy budget on Plan, ε",
}  # fmt: skip
WEIGHT = ("policy", "recipients", "policy_for", "epsilon", "label", "beside")  # answers, what decides the most first
READERS = {
    "team": "people who may read the original", "organisation": "colleagues under the same duties",
    "researchers": "researchers under an agreement", "public": "anyone",
}  # fmt: skip
SETTINGS = {
    "last checks": "Result of the last checks", "first steps": "First steps on Home", "domain": "Kind of text",
    "measures.embedder": "Model that reads meaning", "prompt templates": "Prompts",
}  # fmt: skip
OF_A_CORPUS = re.compile(r"(plan\.answers|release\.words)\.")
POLICY = "policy "  # before a policy's id, among names
DRAWN = {  # what the ledger calls a noisy answer -> what it is
    "label histogram": "shares of the labels", "class histogram": "sizes of the classes",
    "joint histogram": "numbers of texts by topic, length and label", "cluster histogram": "sizes of the topics",
    "length histogram": "lengths of the texts", "label list": "the list of labels",
    "length search, maximum": "the greatest length", "length search, minimum": "the least length",
    "keyword votes": "votes for key words", "votes": "votes for the invented texts",
    "dense votes": "scores of the invented texts", "sum of differences": "the direction in which texts differ",
    "gradients of training": "steps of training", "tokens of private prediction": "pieces of words that were written",
    "tokens of private prediction, on other units": "pieces of words that were written, from other people",
    "candidate": "a choice among candidates", "choice of a run": "the choice of a run",
    "self-similarity mean": "how alike the private texts are", "label shares": "shares of the labels",
}  # fmt: skip


def policies(workspace: engine.Workspace) -> dict[str, str]:
    """Return the titles of the policies, as names by which `value_of` finds them."""
    return {POLICY + policy.id: policy.title for policy in workspace.releases.policies()}


def drawn(what: str) -> str:
    """Return what a noisy answer of the ledger is of, in words."""
    return DRAWN.get(what, what.replace("_", " "))


def rank(key: str) -> int:
    """Return where a detail stands among those of its line: what says the most comes first."""
    if key in FIRST:
        return FIRST.index(key)
    return len(FIRST) + (1 + LAST.index(key) if key in LAST else 0)


def said(key: str, value: object, words: str) -> str:
    """Return a detail in words.

    Args:
        value: as the log holds it. words: the value, as people read it.
    """
    if isinstance(value, bool) and key in YES_NO:
        return YES_NO[key][0 if value else 1]
    if isinstance(value, int) and not isinstance(value, bool):
        if key in COUNTS:
            return count_of(value, COUNTS[key], PLURALS.get(key))
        if key in BEHIND:
            return f"{words} {BEHIND[key]}"
    called = CALLED.get(key, key.replace("_", " "))
    if called in ("ε", "δ"):
        return f"{called} = {words}"
    return f"{called}: {words}" if called else words


def value_of(key: str, word: str, names: Mapping[str, str]) -> str:
    """Return a value that is one word of the program as people call it: a policy, a method, a reader, anything else."""
    if key == "policy":
        return names.get(POLICY + word, word)
    if key == "method":
        return method(word)
    if key == "policy_run":
        return names.get(word, word)
    if key in ("recipients", "policy_for"):
        return READERS.get(word, word)
    return VALUES.get(key, {}).get(word, word)


def method(word: str) -> str:
    """Return a method by the name on its card."""
    card = CARDS.get(word.removeprefix(FILTERED))
    return word if card is None else f"{card.name}, then filtered" if word.startswith(FILTERED) else card.name


def changes(line: str, names: Mapping[str, str]) -> str:
    """Return which answers changed, from what to what; `line` as the log holds it: "policy: public → proof; …"."""
    return "; ".join(_change(part, names) for part in line.split("; "))


def latest(line: str, names: Mapping[str, str]) -> str:
    """Return what that answer is which decides the most of those that changed; `line` as in `changes`."""
    name, colon, values = changes(_weightiest(line), names).partition(": ")
    return f"{name}: {values.rpartition(' → ')[2]}" if colon else name


def leads(line: str) -> str:
    """Return the key of that answer which decides the most of those that changed; `line` as in `changes`."""
    return _weightiest(line).partition(": ")[0]


def _weightiest(line: str) -> str:
    parts = {part.partition(": ")[0]: part for part in line.split("; ")}
    return next((parts[key] for key in WEIGHT if key in parts), next(iter(parts.values())))


def _change(part: str, names: Mapping[str, str]) -> str:
    key, colon, values = part.partition(": ")
    before, arrow, after = values.partition(" → ")
    if not (colon and arrow):
        return part
    words = (_answer(key, one, names) for one in (before, after))
    return f"{ANSWERS.get(key, key.replace('_', ' '))}: {' → '.join(words)}"


def _answer(key: str, word: str, names: Mapping[str, str]) -> str:
    if word == "nothing":
        return "none yet"
    if word == "other":
        return "nobody named" if key == "policy_for" else "another"
    return value_of(key, word, names)


def setting(key: str) -> str:
    """Return what a setting is called; empty for the answers of a corpus, whose changes say more than their key."""
    if OF_A_CORPUS.match(key):
        return ""
    return SETTINGS.get(key, key.replace(".", ", "))
