"""Write an assessment file: one HTML page without scripts or outside parts, which prints to paper.

Privacy posture: `Facts.findings`, `risk`, `trial`, `verdict`, `releases` and `unbounded` are measured or counted on
private data and reach the internal edition alone; the external one is written from a copy of the facts without them.
Every word is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Literal

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from engine.examine.findings.findings import Finding
from engine.examine.measures import MEASURES, REFERENCES, show
from engine.release.assessment.questions import Asked, Question, questions
from engine.release.card.card import DataCard, setting_words
from engine.release.policy.verdicts import Verdict

Edition = Literal["internal", "external"]
NOT_STATED, NOTHING = "Not stated.", "No formal guarantee"
EXPECTED = "Expected here: {says}."
WITHIN = "That is no more than the attack was given."
BEYOND = "That is more than the attack was given. Not tested; this file is no evidence of resistance to it."
NOT_EXPECTED = "Nobody stated what attackers are expected to have here; the attacker above is the strongest tested."
BEFORE_IT_LEAVES = "Records leave under it only once each of these is so:"
MODELS = {"none": "none was used", "builtin": "the program's built-in model"}
ATTACKED = {  # what a row of a membership attack holds against what
    "train": "records that were used against others",
    "holdout": "records that nobody used, half against half: chance",
    "baseline": "the same by their words alone, without the text",
}
NAMED = (
    "People who are only named in the records of others are protected for each unit that names them, which is less. "
    "How often that happens was not counted in this file."
)
NAMED_UNPROVEN = (
    "Also that of people who are only named in the records of others. No proof protects anybody here, and the tests of "
    "this file ask about the people whose records these are."
)
WIDTH, ROW, LEFT = 640, 22, 300  # of a figure, in its own units


@dataclass(frozen=True)
class Facts:
    """What an assessment file is written from.

    Args:
        card: of the run and the policy; public.
        answers: typed words by field. made: day, ISO 8601. made_by: who made the file.
        run, corpus: their names; internal. called: what the program's pages call the method, or empty; public.
        whole: the complete output is to leave on its proof alone, so nothing may be measured.
        examined: when the findings were measured, ISO 8601, or empty. stale: they describe other records by now.
        findings: of the examination. risk: what detection misses, as sentences. verdict: of the policy.
        trial: what an intruder trial found, as sentences. tried: that there was one, in public numbers alone, or empty.
        software: what this file was written by and what is installed beside it, as a sentence; internal.
        releases: releases from the same people so far. unbounded: one of them left without a proof.
        tested: families of which findings exist, and untried: names of attacks without; filled in by `document`.
    """

    card: DataCard
    answers: Mapping[str, str]
    made: str
    made_by: str = ""
    run: str = ""
    corpus: str = ""
    called: str = ""
    whole: bool = False
    examined: str = ""
    stale: bool = False
    findings: Sequence[Finding] = ()
    risk: Sequence[str] = ()
    trial: Sequence[str] = ()
    tried: str = ""
    software: str = ""
    verdict: Verdict | None = None
    releases: int = 0
    unbounded: bool = False
    tested: frozenset[str] = field(default=frozenset())
    untried: frozenset[str] = field(default=frozenset())


@dataclass(frozen=True)
class Line:
    """One finding as a row: title, what it was held against, value and interval in words, items, meaning."""

    title: str
    against: str
    value: str
    interval: str
    n: int
    means: str


@dataclass(frozen=True)
class Family:
    """One question with what was found; `missing` are titles that were not measured.

    expected: whom the controller expects to try, and whether the attack had as much. open: it had not.
    """

    question: Question
    expected: str
    open: bool
    lines: tuple[Line, ...]
    missing: tuple[str, ...]
    figure: str
    tested: bool


def document(facts: Facts, edition: Edition) -> str:
    """Return the file as one HTML page.

    Args:
        edition: the internal one says all; the external one no measured value, no name of corpus or run, and typed
            words only of fields that are meant for outside.
    """
    told = () if facts.stale and edition == "external" else facts.findings  # of other records: no test of these
    known = {f.name for f in told if math.isfinite(f.value)}  # what could not be estimated was no test
    tested = frozenset(q.id for q in questions().tests if known & set(q.names()))
    untried = frozenset(name for q in questions().tests for name in q.attacks if name not in known)
    facts = replace(facts, tested=tested, untried=untried)
    if edition == "external":
        outside = {one.id for one in questions().fields if one.outside}
        facts = replace(
            facts, answers={name: said for name, said in facts.answers.items() if name in outside}, made_by="", run="",
            corpus="", findings=(), risk=(), trial=(), software="", verdict=None, releases=0, unbounded=False,
            stale=False, examined="yes" if facts.examined and not facts.stale else "",
        )  # fmt: skip
    inside = edition == "internal"
    groups = {title: [one for one in fields if inside or one.outside] for title, fields in questions().groups().items()}
    return _template().render(
        facts=facts, inside=inside, said={one.id: one.words(facts.answers.get(one.id)) for one in questions().fields},
        groups={title: fields for title, fields in groups.items() if fields},
        content=facts.card.content, formal=facts.card.formal, claim=_claim(facts.card.content["guarantee"]),
        model=MODELS.get(str(facts.card.content["model"]), facts.card.content["model"]),
        replaced=facts.card.keeps_text,
        settings={line["setting"]: setting_words(line["value"]) for line in facts.card.content["settings"]},
        families=[_family(one, facts, inside) for one in questions().tests],
        frameworks=[(one, [(row.asks, _answer(row, facts, inside)) for row in one.rows])
                    for one in questions().frameworks],
        not_stated=NOT_STATED, open_fields=[one.title for fields in groups.values() for one in fields
                                            if one.id not in facts.answers],
    )  # fmt: skip


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    return environment.get_template("file.html.jinja")


def _family(question: Question, facts: Facts, inside: bool) -> Family:
    found = {name: [f for f in facts.findings if f.name == name] for name in question.names()}
    attacked = {name + end for name in question.attacks for end in ("", "_tpr01")}
    lines = tuple(_line(f, f.name in attacked) for name in question.names() for f in found[name]) if inside else ()
    missing = tuple(MEASURES[name].title for name, rows in found.items() if not rows and name in question.measures)
    attacks = tuple(MEASURES[name].title for name in question.attacks if name in facts.untried)
    areas = [f for name in question.attacks for f in found[name] if f.reference == "train" and math.isfinite(f.value)]
    return Family(
        question, *_expected(question, facts), lines, (*attacks, *missing) if inside else attacks,
        _figure(areas) if inside else "", question.id in facts.tested,
    )  # fmt: skip


def _expected(question: Question, facts: Facts) -> tuple[str, bool]:
    """Return what attackers are expected to have beside what the attack had, and whether that is more."""
    asked = questions().scenario(question.id)
    chosen = None if asked is None else asked.chosen(facts.answers.get(asked.id))
    if chosen is None:
        return NOT_EXPECTED, False
    within = "" if question.id not in facts.tested else WITHIN
    return f"{EXPECTED.format(says=chosen.says)} {BEYOND if chosen.beyond else within}".strip(), chosen.beyond


def _line(finding: Finding, attacked: bool) -> Line:
    measure = MEASURES[finding.name]
    against = ATTACKED.get(finding.reference, "") if attacked else REFERENCES[finding.reference]
    means = "" if attacked else measure.caveat  # what an attack does not show stands above them all
    if not math.isfinite(finding.value):
        why = str(finding.settings.get("why") or "not estimable")
        return Line(measure.title, against, "none", why, finding.n, means)
    interval = (
        "no interval"
        if finding.low is None or finding.high is None
        else f"{show(finding.name, finding.low)} to {show(finding.name, finding.high)}"
    )
    return Line(measure.title, against, show(finding.name, finding.value), interval, finding.n, means)


def _answer(row: Asked, facts: Facts, inside: bool) -> list[str]:
    """Return the answer to a row as sentences."""
    said: list[str] = []
    titles = {one.id: one for one in questions().fields}
    for name in row.fields:
        if inside or titles[name].outside:
            said.append(f"{titles[name].title}: {facts.answers.get(name, NOT_STATED)}")
        else:
            said.append(f"{titles[name].title}: in the internal edition.")
    for name in row.tests:
        title = next(one.title for one in questions().tests if one.id == name)
        if name in facts.tested:
            said.append(f"Tested; see “{title}”." if inside else f"Tested; see “{title}”. The values stay inside.")
            asked = questions().scenario(name)
            chosen = None if asked is None else asked.chosen(facts.answers.get(asked.id))
            if chosen is not None and chosen.beyond:
                said.append(f"Not against whom the controller expects: {chosen.says[0].lower()}{chosen.says[1:]}.")
        else:
            said.append("Not tested. This file is no evidence of resistance to it.")
    if row.fact is not None:
        said += _fact(row.fact, facts, inside)
    return [*said, *([row.says] if row.says else [])]


def _fact(fact: str, facts: Facts, inside: bool) -> list[str]:
    content = facts.card.content
    guarantee = content["guarantee"]
    proven = guarantee["kind"] == "dp"
    if fact in ("guarantee", "mechanisms"):
        said = [_claim(guarantee)]
        return [*said, *([facts.card.formal] if fact == "mechanisms" and proven else [])]
    if fact == "unit":
        unit = {"record": "One record.", "source": "All records of one person or other source."}
        neighbours = f"Neighbouring data: {guarantee['adjacency']}." if proven else ""
        return [one for one in (unit.get(str(guarantee["unit"]), ""), neighbours) if proven and one] or [
            "Nobody, by a proof: this method has none."
        ]
    if fact == "budget":
        if not proven:
            return ["There is no ε: the method has no formal guarantee."]
        return [
            f"ε = {guarantee['epsilon']} at δ = {guarantee['delta']}. Compare it only with an ε at the same δ, for the "
            "same unit and the same neighbouring data."
        ]
    if fact == "named":
        return [NAMED if proven else NAMED_UNPROVEN]
    if fact == "trust":
        return _trust(str(content["model"]), proven)
    if fact == "policy":
        said = [f"Policy {content['policy']['title']}: {content['policy']['sentence']}", BEFORE_IT_LEAVES]
        said += [*content["policy"]["checked"], *(f"Waived. {one}" for one in content["policy"]["waived"])]
        return [*said, *([_met(facts.verdict)] if inside and facts.verdict is not None else [])]
    if fact == "intruder":
        return _intruder(facts, inside)
    if fact == "releases":
        return _releases(facts) if inside else ["In the internal edition."]
    return [_examination(facts, inside)]


def _met(verdict: Verdict) -> str:
    if verdict.passed:
        return "On the day of this file each of these held, or was waived; see “The policy's answer”."
    return "On the day of this file not all of these held; see “The policy's answer”. Nothing may leave before they do."


def _claim(guarantee: Mapping[str, object]) -> str:
    """Return what is promised: the kind in words and the sentence, without saying twice that there is nothing."""
    words, sentence = str(guarantee["in_words"]), str(guarantee["sentence"])
    if sentence.startswith(f"{NOTHING}:") and words.startswith(NOTHING):
        return f"{words}{sentence.removeprefix(NOTHING)}"
    return f"{words}. {sentence}"


def _trust(model: str, proven: bool) -> list[str]:
    """Return who had to be trusted with the original: the office, and whoever ran a model that wrote from it."""
    said = ["The office that runs the program: it holds the original, and nothing of it is sent to others unless a "
            "person asked for it, which the audit log says."]  # fmt: skip
    if model.startswith("endpoint"):
        said.append("A model on a server took part; what it was sent, by whose consent and to which machine, stands in "
                    "the audit log.")  # fmt: skip
    if proven:
        said.append("Mechanism noise comes from the operating system, and is drawn once.")
    return said


def _intruder(facts: Facts, inside: bool) -> list[str]:
    """Return what a person found who tried to say whom the texts are of; only that they tried where no value stands."""
    if inside and facts.trial:
        return list(facts.trial)
    if facts.tried:
        return [f"{facts.tried} What was found stays with the custodian."]
    return ["Nobody did for this file. It is no evidence of what a person would find."]


def _releases(facts: Facts) -> list[str]:
    count = "one release" if facts.releases == 1 else f"{facts.releases or 'no'} releases"
    total = (
        "Text without a proof is among what left, so no finite ε holds for these people together."
        if facts.unbounded
        else "All of it carried a proof, or read no private text."
    )
    return [f"From the same people so far: {count}. {total if facts.releases else ''}".strip()]


def _examination(facts: Facts, inside: bool) -> str:
    if facts.whole and not facts.examined:
        return (
            "Not at all, on purpose: the complete output leaves on its proof, and a measurement on private data would "
            "be a choice that the proof does not cover."
        )
    if not facts.examined:
        return "Not at all. This file is no evidence of resistance to any attack."
    if not inside:
        return "Once, before the release, with the families of tests named here. Values stay inside."
    old = " What is described has changed since: measure again." if facts.stale else ""
    return (
        f"Once, on {facts.examined[:10]}, with {len(facts.findings)} findings, each with its number of items and, "
        f"where one is defined, its 95 % interval.{old}"
    )


def _figure(areas: Sequence[Finding]) -> str:
    """Return areas under ROC curves with their intervals as an SVG drawing; empty where there are none."""
    if not areas:
        return ""
    height = ROW * (len(areas) + 2)

    def at(value: float) -> float:
        return LEFT + (WIDTH - LEFT - 20) * min(1.0, max(0.0, value))

    chance = at(0.5)
    parts = [
        f'<line x1="{chance:.1f}" y1="4" x2="{chance:.1f}" y2="{height - ROW}" class="chance"/>',
        *(f'<text x="{at(v):.1f}" y="{height - 6}" text-anchor="{side}">{words}</text>'
          for v, side, words in ((0.0, "middle", "0"), (0.5, "middle", "chance"), (1.0, "end", "always told"))),
    ]  # fmt: skip
    for place, one in enumerate(areas):
        y = ROW * (place + 0.7)
        title = _escaped(MEASURES[one.name].title)
        parts.append(f'<text x="{LEFT - 12}" y="{y + 4:.1f}" text-anchor="end">{title}</text>')
        if one.low is not None and one.high is not None:
            ends = f'x1="{at(one.low):.1f}" x2="{at(one.high):.1f}"'
            parts.append(f'<line {ends} y1="{y:.1f}" y2="{y:.1f}" class="interval"/>')
        parts.append(f'<circle cx="{at(one.value):.1f}" cy="{y:.1f}" r="4"/>')
    said = "Area under the ROC curve of each attack with its 95 % interval; 0.5 is chance."
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{said}">{"".join(parts)}</svg>'


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
