"""What the lines of the ledger and of the audit log speak of, by the names that people here gave.

How to use: `names = read(workspace)`, then `named(identifier, names)`. Lines keep ids, since a name may change and what
it names may be deleted; nothing here holds record text.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping

import engine
from pages._ui.current import corpus_names, run_names
from pages._ui.ledger import words
from pages._ui.texts import JOBS, share, when

GONE = {
    "c": "a deleted corpus",
    "r": "a deleted run",
    "j": "a job that is gone",
    "pop": "people of a deleted corpus",
    "rel": "a deleted release",
}
OF_A_RUN = {"i": "intruder trial", "w": "waiver"}  # known by their run alone
IDENTIFIER = re.compile(r"(pop|rel|[a-z])-[a-z2-9]{10}")
WORKER = "worker"  # as the log calls the process that does the jobs
HEXADECIMAL = re.compile(r"[0-9a-f]{32,}")
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:\d\d)")
SEPARATOR = " · "  # between the details of a line
ACTS = {  # as the log has it -> as people read it, where that differs
    "examination asked for": "examination started",
    "run asked for": "run started",
    "study asked for": "study started",
    "label list no longer public": "list of labels withdrawn",
    "label list declared public": "list of labels declared public",
    "gold spans chosen": "the file's own marks chosen",
    "spans detected": "identifiers looked for",
    "run described": "name or note of a run changed",
    "name of the person acting set": "name of whoever acts set",
    "language of the interface chosen": "language chosen",
    "cap declared public": "records of one person declared public",
    "internal preview": "internal preview built",
    "records pending": "records undecided again",
    "spend since entered": "what was spent elsewhere entered",
}


def read(workspace: engine.Workspace) -> dict[str, str]:
    """Return what each corpus, run, job, release and group of people is called, by id."""
    corpora = workspace.corpora.all()
    found = corpus_names(workspace)
    for corpus in corpora:
        before = found.get(corpus.population)
        found[corpus.population] = f"{before}, {found[corpus.id]}" if before else f"people of {found[corpus.id]}"
    people = {corpus.population for corpus in corpora}
    called = Counter(found[group] for group in people)
    found |= {group: f"{found[group]} ({group})" for group in people if called[found[group]] > 1}  # others, same names
    runs = run_names(workspace.runs.all())
    for job in workspace.jobs.all(active_only=False):
        found[job.id] = JOBS.get(job.kind, job.kind)
    for release in workspace.releases.all():
        found[release.id] = f"release of {runs.get(release.run_id, GONE['r'])}"
    return {**found, **runs}


def named(identifier: str, names: Mapping[str, str]) -> str:
    """Return what an id is called; of what was deleted, that it was; anything else as it is."""
    if identifier in names:
        return names[identifier]
    made = IDENTIFIER.fullmatch(identifier)
    return GONE.get(made[1], identifier) if made else identifier


def subject_of(identifier: str, detail: str, names: Mapping[str, str]) -> str:
    """Return what an audit line is about: a trial or a waiver by its run, anything else as `named` says."""
    made = IDENTIFIER.fullmatch(identifier)
    kind = OF_A_RUN.get(made[1]) if made else None
    if kind is None:
        return named(identifier, names)
    try:
        run = json.loads(detail).get("run")
    except (TypeError, ValueError, AttributeError):
        run = None
    return f"{kind} of {named(str(run), names)}" if run else f"{'an' if kind[0] == 'i' else 'a'} {kind}"


def act(action: str) -> str:
    """Return an action of the audit log in words, with a capital."""
    called = ACTS.get(action, action).replace("_", " ")
    return called[:1].upper() + called[1:]


def who(actor: str) -> str:
    """Return who acted; the worker is no person: it does what somebody asked for in an earlier line."""
    return "the program" if actor == WORKER else actor


def dated(sentence: str) -> str:
    """Return a sentence with each moment in it as it stands everywhere else, not as a machine writes it."""
    return MOMENT.sub(lambda found: when(found[0]), sentence)


def details(detail: str, names: Mapping[str, str], *, subject: str = "") -> str:
    """Return a line's details in words, without what its subject says already and without digests (see `digests`)."""
    return SEPARATOR.join(parts(detail, names, subject=subject))


def parts(detail: str, names: Mapping[str, str], *, subject: str = "") -> list[str]:
    """Return a line's details in words, each by itself, with what says the most in front."""
    return _said(detail, names, subject, digests=False)


def digests(detail: str, names: Mapping[str, str]) -> str:
    """Return the digests of a line, each by its name and its beginning."""
    return ", ".join(_said(detail, names, "", digests=True))


def _said(detail: str, names: Mapping[str, str], subject: str, *, digests: bool) -> list[str]:
    try:
        body = json.loads(detail)
    except (TypeError, ValueError):
        return [] if digests else [str(detail)]
    if not isinstance(body, Mapping):
        return [] if digests else [str(body)]
    kept = {
        str(name): value
        for name, value in body.items()
        if value not in (None, "", [], {}, subject)
        and not (value == 0 and not isinstance(value, bool) and name != "epsilon")
        and _digest(value) == digests
    }
    if digests:
        return [f"{name.replace('_', ' ')}: {_value(name, value, names)}" for name, value in kept.items()]
    if "changed" in kept:  # says more than the setting's key
        kept = {name: value for name, value in kept.items() if name != "setting" or words.setting(str(value))}
    in_order = sorted(kept, key=words.rank)
    return [words.said(name, kept[name], _value(name, kept[name], names)) for name in in_order]


def _digest(value: object) -> bool:
    """Return whether a value is a digest, or a group with one in it."""
    if isinstance(value, Mapping):
        return any(_digest(one) for one in value.values())
    if isinstance(value, list):
        return bool(value) and all(_digest(one) for one in value)
    return isinstance(value, str) and bool(HEXADECIMAL.fullmatch(value))


def _value(name: str, value: object, names: Mapping[str, str]) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return share(value, 0) if name == words.SHARE else f"{value:.4g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{part.replace('_', ' ')} {_value(part, one, names)}" for part, one in value.items())
    if isinstance(value, list):
        return ", ".join(_value(name, one, names) for one in value)
    word = dated(str(value))
    if name == "setting":
        return words.setting(word) or f"answers on Plan and Release, {named(word.rpartition('.')[2], names)}"
    if name == "changed":
        return words.changes(word, names)
    if name == "job":
        return JOBS.get(word, word).lower()
    return f"{word[:12]}…" if HEXADECIMAL.fullmatch(word) else words.value_of(name, named(word, names), names)
