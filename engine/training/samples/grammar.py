"""Expand text from a grammar of nested alternatives while keeping exact entity offsets.

A grammar file holds rules: a line `= name` opens a rule, each following line is one alternative.
Inside an alternative: `[a|b|c]` chooses one part, `{@rule}` expands a rule (`$fact` in the name is
replaced by that fact), `{%2-4 rule}` joins that many different alternatives (a third word `bullet`,
`lines` or `comma` sets the joint), `{name}` and `{name:argument}` ask the document's facts for a literal or
an entity, `\\n` breaks a line, `_` alone is an empty alternative, and `# ` opens a comment line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import NamedTuple


class Segment(NamedTuple):
    """A piece of text; `label` is None for text that is no entity."""

    text: str
    label: str | None = None
    identifier_type: str = ""


Value = str | Segment | list[Segment]
Handler = Callable[[str, "Scene"], Value]


@dataclass
class Scene:
    """What one document is about: facts by name, handlers by name, and what was said already."""

    rng: Random
    facts: dict[str, Value]
    handlers: Mapping[str, Handler]
    used: set[tuple[str, int]] = field(default_factory=set)


class _Alternatives(NamedTuple):
    options: tuple[tuple[object, ...], ...]


class _Slot(NamedTuple):
    name: str
    argument: str


class _Rule(NamedTuple):
    name: str


class _Several(NamedTuple):
    low: int
    high: int
    name: str
    joint: str


_JOINTS = {"": " ", "bullet": "\n- ", "lines": "\n", "comma": ", ", "para": "\n\n"}
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|Dr|Mr|Mrs|Ms|No|Nos|approx|vs|v|Ref|cf|art|reg|para|St|Prof|ca|[A-Z]))\.$"
)
_SENTENCE_START = re.compile(r"(?:\A|(?<=[.!?])\s+|\n\s*(?:[-*•>]+ )*)([a-zà-ÿ])")
_ARTICLE = re.compile(r"\b([Aa]) \Z")
_ARTICLE_INSIDE = re.compile(r"\b([Aa]) (?=[aeioAEIO](?!ne\b|nce\b|ne-|uro|uc))|\b([Aa]) (?=u(?!ni|se|su|ti|k))")
_VOWEL_SOUND = re.compile(r"[AEIOaeio](?!ne\b|ne-|uro)|8|1[18]\b|u(?!ni|se|su|ti|k)|U(?!ni|se|su|ti|K)")


class Grammar:
    """Rules compiled once, expanded many times."""

    def __init__(self, path: Path, synonyms: Mapping[str, str] | None = None) -> None:
        self._synonyms = dict(synonyms or {})
        self._pattern = (
            re.compile(r"\b(" + "|".join(re.escape(k) for k in sorted(self._synonyms, key=len, reverse=True)) + r")\b")
            if self._synonyms
            else None
        )
        self.rules: dict[str, list[tuple[object, ...]]] = {}
        name = ""
        for raw in path.read_text(encoding="utf-8").splitlines():
            line = raw.rstrip("\n")
            if line.startswith("# ") or not line.strip():
                continue
            if line.startswith("= "):
                name = line[2:].strip()
                self.rules.setdefault(name, [])
            else:
                text = "" if line.strip() == "_" else line.strip().replace("\\n", "\n")
                self.rules[name].append(self._parse(text, 0, top=True)[0][0])

    def references(self) -> set[str]:
        """Return the names of rules that alternatives refer to without `$`."""
        found: set[str] = set()

        def walk(sequence: tuple[object, ...]) -> None:
            for node in sequence:
                if isinstance(node, _Alternatives):
                    for option in node.options:
                        walk(option)
                elif isinstance(node, (_Rule, _Several)) and "$" not in node.name:
                    found.add(node.name)

        for alternatives in self.rules.values():
            for sequence in alternatives:
                walk(sequence)
        return found

    def _parse(self, text: str, at: int, *, top: bool) -> tuple[list[tuple[object, ...]], int]:
        options: list[list[object]] = [[]]
        literal: list[str] = []

        def flush() -> None:
            if literal:
                options[-1].extend(self._literal("".join(literal)))
                literal.clear()

        while at < len(text):
            char = text[at]
            if char == "[":
                flush()
                inner, at = self._parse(text, at + 1, top=False)
                options[-1].append(_Alternatives(tuple(inner)))
                continue
            if char == "{":
                flush()
                close = text.index("}", at)
                options[-1].append(_reference(text[at + 1 : close]))
                at = close + 1
                continue
            if char == "|" and not top:
                flush()
                options.append([])
            elif char == "]" and not top:
                flush()
                return [tuple(o) for o in options], at + 1
            else:
                literal.append(char)
            at += 1
        if not top:
            raise ValueError(f"an alternative lacks its closing bracket: {text[:60]!r}")
        flush()
        return [tuple(o) for o in options], at

    def _literal(self, text: str) -> list[object]:
        """Split `text` where a phrase has synonyms, so that each becomes a choice."""
        if self._pattern is None:
            return [text]
        nodes: list[object] = []
        at = 0
        for match in self._pattern.finditer(text):
            if match.start() > at:
                nodes.append(text[at : match.start()])
            nodes.append(_Alternatives(tuple((option,) for option in self._synonyms[match.group()].split("|"))))
            at = match.end()
        if at < len(text):
            nodes.append(text[at:])
        return nodes

    def expand(self, rule: str, scene: Scene, layout: int | None = None) -> list[Segment]:
        """Return the segments of one expansion of `rule`, of its alternative `layout` if one is given."""
        out: list[Segment] = []
        if layout is None:
            self._rule(rule, scene, out)
        else:
            self._sequence(self.rules[rule][layout], scene, out)
        return out

    def _rule(self, name: str, scene: Scene, out: list[Segment]) -> None:
        if "$" in name:
            name = re.sub(r"\$(\w+)", lambda m: str(scene.facts[m.group(1)]), name)
        alternatives = self.rules[name]
        pick = 0
        for _ in range(4):
            pick = int(scene.rng.random() * len(alternatives))
            if (name, pick) not in scene.used:
                break
        scene.used.add((name, pick))
        self._sequence(alternatives[pick], scene, out)

    def _several(self, node: _Several, scene: Scene, out: list[Segment]) -> None:
        name = re.sub(r"\$(\w+)", lambda m: str(scene.facts[m.group(1)]), node.name)
        alternatives = self.rules[name]
        free = [i for i in range(len(alternatives)) if (name, i) not in scene.used] or list(range(len(alternatives)))
        picks = scene.rng.sample(free, min(len(free), scene.rng.randint(node.low, node.high)))
        joint = _JOINTS[node.joint]
        for n, pick in enumerate(picks):
            scene.used.add((name, pick))
            if n or node.joint == "bullet":
                out.append(Segment(joint if n else "- "))
            self._sequence(alternatives[pick], scene, out)

    def _sequence(self, sequence: tuple[object, ...], scene: Scene, out: list[Segment]) -> None:
        for node in sequence:
            if isinstance(node, str):
                out.append(Segment(node))
            elif isinstance(node, _Alternatives):
                self._sequence(node.options[int(scene.rng.random() * len(node.options))], scene, out)
            elif isinstance(node, _Slot):
                value = self._slot(node, scene)
                if isinstance(value, str):
                    out.append(Segment(value))
                elif isinstance(value, Segment):
                    out.append(value)
                else:
                    out.extend(value)
            elif isinstance(node, _Rule):
                self._rule(node.name, scene, out)
            elif isinstance(node, _Several):
                self._several(node, scene, out)

    def _slot(self, node: _Slot, scene: Scene) -> Value:
        handler = scene.handlers.get(node.name)
        return handler(node.argument, scene) if handler else scene.facts[node.name]


def _reference(inside: str) -> object:
    if inside.startswith("@"):
        return _Rule(inside[1:])
    if inside.startswith("%"):
        count, name, *joint = inside[1:].split()
        low, _, high = count.partition("-")
        return _Several(int(low), int(high or low), name, joint[0] if joint else "")
    name, _, argument = inside.partition(":")
    return _Slot(name, argument)


PLURAL = "\x01"
"""Follows a noun phrase that takes a plural verb, until `tidy` has made the next verb agree."""

_PLURAL_VERB = {"is": "are", "was": "were", "has": "have", "does": "do", "goes": "go", "isn't": "aren't"}
_AGREE = re.compile(
    PLURAL + r"((?: (?:still|mostly|really|also|again|once|plainly))?) "
    r"(is|was|has|does|goes|comes|gets|needs|shows|supports|fits|bears|speaks|lasts|persists|returns|recurs|indicates|reveals"
    r"|demonstrates|matters|continues|remains|wakes|keeps|leads|makes|calls|troubles|cuts|explains|counts)\b"
)


def _agree(match: re.Match[str]) -> str:
    verb = match.group(2)
    return f"{match.group(1)} {_PLURAL_VERB.get(verb, verb.removesuffix('s'))}"


def tidy(segments: list[Segment]) -> list[Segment]:
    """Return the segments merged, with doubled blanks, stray blanks before stops and articles put right."""
    out: list[Segment] = []
    for segment in segments:
        if not segment.text:
            continue
        if segment.label is not None:
            if out and out[-1].label is None and _VOWEL_SOUND.match(segment.text):
                out[-1] = Segment(_ARTICLE.sub(r"\1n ", out[-1].text))
            out.append(segment)
        elif out and out[-1].label is None:
            out[-1] = Segment(out[-1].text + segment.text)
        else:
            out.append(segment)
    cleaned = [s if s.label is not None else Segment(_clean(s.text)) for s in out]
    if cleaned and cleaned[0].label is None:
        cleaned[0] = Segment(cleaned[0].text.lstrip())
    if cleaned and cleaned[-1].label is None:
        cleaned[-1] = Segment(cleaned[-1].text.rstrip())
    return cleaned


def _clean(text: str) -> str:
    if PLURAL in text:
        text = _AGREE.sub(_agree, text).replace(PLURAL, "")
    text = re.sub(r"(?<=\S)  +|\A  +", " ", text)
    text = re.sub(r" +([,.;:?!)](?:\s|\Z))", r"\1", text)
    text = re.sub(r"\.\.(?!\.)", ".", text) if "..." not in text else text
    text = re.sub(r" +\n", "\n", text)
    text = re.sub(r"\n +", "\n", text)
    return _ARTICLE_INSIDE.sub(lambda m: (m.group(1) or m.group(2)) + "n ", text)


def capitalise(segments: list[Segment]) -> list[Segment]:
    """Return the segments with each sentence opening in a capital; entities of fixed spelling are kept."""
    text = "".join(s.text for s in segments)
    chars = list(text)
    fixed: list[tuple[int, int]] = []
    at = 0
    for segment in segments:
        if segment.label in {"EMAIL", "URL", "USERNAME", "CODE"}:
            fixed.append((at, at + len(segment.text)))
        at += len(segment.text)
    for match in _SENTENCE_START.finditer(text):
        place = match.start(1)
        before = text[max(0, match.start() - 8) : match.start()]
        if _ABBREVIATION.search(before) or any(a <= place < b for a, b in fixed):
            continue
        chars[place] = chars[place].upper()
    out: list[Segment] = []
    at = 0
    for segment in segments:
        out.append(segment._replace(text="".join(chars[at : at + len(segment.text)])))
        at += len(segment.text)
    return out


def render(segments: list[Segment]) -> tuple[str, list[dict[str, object]]]:
    """Return the text and its spans (`start, end, label, identifier_type`) with exact offsets."""
    parts: list[str] = []
    spans: list[dict[str, object]] = []
    at = 0
    for segment in segments:
        parts.append(segment.text)
        if segment.label is not None and segment.text:
            spans.append(
                {
                    "start": at,
                    "end": at + len(segment.text),
                    "label": segment.label,
                    "identifier_type": segment.identifier_type,
                }
            )
        at += len(segment.text)
    return "".join(parts), spans
