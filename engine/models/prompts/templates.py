"""Prompt templates that a custodian changed: what they may hold, how they are checked, previewed and versioned.

A template fills fields in, decides and repeats; it calls nothing, computes nothing and reaches no attribute but the
place in a loop. What is not on the list below is refused before it is kept, and templates run in Jinja's sandbox
besides. Shipped templates stay as they are; changes are kept apart, and a run keeps the ones it was started with.

Privacy posture: templates are public inputs of every guarantee, so nothing private may be written into one. Previews
use made-up text.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Set
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from engine.errors import UserError
from engine.json_types import JSON, JSONObject, as_object
from engine.models.builtin.format import DOMAINS, OPERATORS
from engine.models.prompts import operators_rewrite as rewriting
from engine.models.prompts.domains import ENGLISH, load_prompts
from engine.models.prompts.operators_instruct import NEEDED, InstructOperators

if TYPE_CHECKING:
    from jinja2 import nodes

    from engine.models.contracts import Operators

Changed = Mapping[str, Mapping[str, str]]
SYSTEM = "system"
NAMES: tuple[str, ...] = (*OPERATORS, SYSTEM, *rewriting.NAMES)
FIELDS: dict[str, str] = {
    "document": "what a text of the domain is called",
    "kind": "kind of document, or empty",
    "label": "label wanted, or empty",
    "words": "length wanted in words, 0 where it is free",
    "keywords": "public key words",
    "persona": "who writes, or empty",
    "style": "manner of writing, or empty",
    "tone": "negative, neutral or positive, or empty",
    "examples": "texts to write like",
    "text": "the text to work on",
    "texts": "the texts to combine",
    "code": "lines of types and values",
}
LISTS = frozenset({"keywords", "examples", "texts"})  # the fields that hold several values
FILTERS = frozenset({"join", "length", "lower", "upper", "capitalize", "title", "trim"})
MOST_CHARACTERS = 6000
_ALLOWED = frozenset(
    "Template Output TemplateData Name If For Getattr Filter Const Compare Operand And Or Not CondExpr".split()
)
_LOOP = frozenset({"index", "first", "last", "length"})
_SAMPLE: dict[str, Any] = {
    "text": "The bus came late on Monday, and nobody said why.", "code": "PERSON: Ada Quill\nLOCATION: Marrow Bay",
    "texts": ("The bus came late.", "The train was on time."), "label": "transport", "words": 60, "kind": "letter",
    "examples": ("The tram stood still for an hour.", "A bus with a broken door came by."),
    "keywords": ("timetable", "refund"), "persona": "a commuter", "style": "terse",
    "tone": "negative",
}  # fmt: skip

_BARE: dict[str, Any] = {"text": "Late.", "code": "NONE", "texts": ("Late.", "Early."), "examples": ()}


def fields_of(name: str) -> dict[str, str]:
    """Return the fields a template may show, with what each holds; the system line has none."""
    if name in rewriting.NAMES:
        return {field: rewriting.FIELDS[field] for field in rewriting.SHOWN[name]}
    return {} if name == SYSTEM else FIELDS


def check(name: str, template: str) -> str:
    """Return the template without surrounding blank space, if it may be kept.

    Raises:
        UserError: the name, a field, a filter or a statement is not on the list, or a needed field is missing, or a
            judge is not asked for the lines its replies are read by.
    """
    try:
        return _checked(name, template.strip())
    except RecursionError:
        raise UserError(f"template {name!r}: nests too deeply; write it plainer") from None


def _checked(name: str, text: str) -> str:
    from jinja2 import TemplateError, nodes
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    if name not in NAMES:
        raise UserError(f"template {name!r} does not exist; choose one of {', '.join(NAMES)}")
    if not text or len(text) > MOST_CHARACTERS:
        raise UserError(f"template {name!r}: must have 1 to {MOST_CHARACTERS:,} characters, has {len(text):,}")
    try:
        tree = ImmutableSandboxedEnvironment().parse(text)
    except TemplateError as error:
        line = getattr(error, "lineno", None)
        where = f" in line {line}" if line else ""
        raise UserError(f"template {name!r} cannot be read{where}: close every {{{{ and {{% it opens") from None
    targets = {node.target.name for node in tree.find_all(nodes.For) if isinstance(node.target, nodes.Name)}
    used = {node.name for node in tree.find_all(nodes.Name)}
    # Jinja's own globals are no fields either.
    fields = fields_of(name)
    if name == SYSTEM and used:
        raise UserError("template 'system': is sent as it stands; it may hold no field")
    unknown = sorted(used - targets - {"loop"} - set(fields)) or sorted(
        targets & (set(fields) | LISTS | rewriting.LISTS)
    )
    if unknown:
        raise UserError(f"template {name!r}: field {unknown[0]!r} does not exist; it may use {', '.join(fields)}")
    attempts = {_attempt(node) for node in tree.find_all(nodes.For)} - {""}
    for node in tree.find_all(nodes.Node):
        _allowed(name, node, attempts)
    needed = rewriting.NEEDED.get(name) or tuple(filter(None, (NEEDED.get(name),)))
    for field in needed:
        if field not in used:
            raise UserError(f"template {name!r}: must show the field {{{{ {field} }}}}, or the model never sees it")
    for bare in (False, True):
        shown = _filled("generic", name, text, bare)
        for line in rewriting.REPLIES.get(name, ()):
            if line not in shown:
                raise UserError(f"template {name!r}: must ask for a line {line!r}; replies are read by it")
    return text


def _attempt(node: nodes.For) -> str:
    """Return what a loop calls an attempt; empty where it goes over something else."""
    return str(getattr(node.target, "name", "")) if getattr(node.iter, "name", "") == "attempts" else ""


def _filled(domain: str, name: str, text: str, bare: bool = False) -> str:
    """Return a template with made-up text in its fields, or with what may be empty left empty."""
    changed = {domain: {name: text}}
    if name in rewriting.NAMES:
        return rewriting.RewritePrompts(domain, changed).sample(name, bare=bare)
    if name == SYSTEM:
        return text
    return InstructOperators(changed).prompt(name, domain=domain, **(_BARE if bare else _SAMPLE))


def _allowed(name: str, node: nodes.Node, attempts: Set[str]) -> None:
    """Refuse whatever could compute, call or reach further than the fields and the parts of an attempt."""
    from jinja2 import nodes

    kind = type(node).__name__
    if kind not in _ALLOWED:
        raise UserError(
            f"template {name!r}: {kind.lower()} in line {node.lineno} is not allowed; a template may show fields, use "
            "if and for, and the filters " + ", ".join(sorted(FILTERS))
        )
    if isinstance(node, nodes.Filter) and (node.name not in FILTERS or node.kwargs or node.dyn_args):
        raise UserError(f"template {name!r}: filter {node.name!r} does not exist; use {', '.join(sorted(FILTERS))}")
    if isinstance(node, nodes.Filter) and (node.name == "join" or node.args) and not _is_plain_join(node):
        raise UserError(
            f"template {name!r}: {node.name} in line {node.lineno} is not allowed so; join puts a fixed separator "
            f"between the values of {', '.join(sorted(LISTS | rewriting.LISTS))}, other filters stand alone"
        )
    if isinstance(node, nodes.Getattr):
        of = node.node.name if isinstance(node.node, nodes.Name) else ""
        if not (of == "loop" and node.attr in _LOOP) and not (of in attempts and node.attr in rewriting.ATTEMPT):
            also = f" and, of an attempt, .{', .'.join(sorted(rewriting.ATTEMPT))}" if name == "rewriter" else ""
            raise UserError(
                f"template {name!r}: .{node.attr} in line {node.lineno} is not allowed; only loop.index is{also}"
            )
    if isinstance(node, nodes.For):
        plain = _is_list(node.iter) and not node.recursive
        if not plain or any(isinstance(inner, nodes.For) for part in node.body for inner in _within(part)):
            raise UserError(f"template {name!r}: a loop must go over one field with several values, no loop inside it")


def _is_plain_join(node: nodes.Filter) -> bool:
    from jinja2 import nodes

    return node.name == "join" and _is_list(node.node) and all(isinstance(a, nodes.Const) for a in node.args)


def _is_list(node: nodes.Node | None) -> bool:
    """Return whether an expression is a field, or a part of an attempt, that holds several values."""
    from jinja2 import nodes

    if isinstance(node, nodes.Getattr):
        return isinstance(node.node, nodes.Name) and node.attr in rewriting.LISTS
    return isinstance(node, nodes.Name) and node.name in LISTS | rewriting.LISTS


def _within(node: nodes.Node) -> list[nodes.Node]:
    from jinja2 import nodes

    return [node, *node.find_all(nodes.Node)]


def shipped(domain: str) -> dict[str, str]:
    """Return the templates a domain ships with, by name."""
    prompts = load_prompts(domain)
    return {**{name: prompts.operators[name] for name in OPERATORS}, SYSTEM: prompts.system, **rewriting.shipped()}


def holding(stored: Changed | None) -> dict[str, dict[str, str]]:
    """Return stored changes that may still be used; one that later rules refuse gives way to what ships."""
    kept: dict[str, dict[str, str]] = {}
    for domain, templates in (stored or {}).items():
        for name, template in templates.items():
            with suppress(UserError):
                for own in checked({domain: {name: template}}).values():
                    kept.setdefault(domain, {}).update(own)
    return kept


def checked(changed: Changed | None) -> dict[str, dict[str, str]]:
    """Return changes that may be kept, those equal to what ships left out.

    Raises:
        UserError: one of them is not allowed.
    """
    kept: dict[str, dict[str, str]] = {}
    for domain, templates in (changed or {}).items():
        if domain not in DOMAINS:
            continue
        own = shipped(domain)
        for name, template in templates.items():
            if name in NAMES and check(name, template) != own[name].strip():
                kept.setdefault(domain, {})[name] = template
    return kept


def version(changed: Changed, language: str = ENGLISH) -> str:
    """Return a digest of all templates in use: 16 hexadecimal digits."""
    table = {domain: {**_shipped_in(domain, language), **changed.get(domain, {})} for domain in DOMAINS}
    text = json.dumps(table, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _shipped_in(domain: str, language: str) -> dict[str, str]:
    own = shipped(domain)
    if language != ENGLISH:
        prompts = load_prompts(domain, language)
        own |= {**prompts.operators, SYSTEM: prompts.system}
    return own


def as_manifest(changed: Changed, language: str = ENGLISH) -> dict[str, JSON]:
    """Return what a run keeps: the version of all templates, the changed ones, and the language if not English."""
    kept: dict[str, JSON] = {"version": version(changed, language)}
    kept["changed"] = {domain: dict(own) for domain, own in changed.items()}
    return kept if language == ENGLISH else {**kept, "language": language}


def with_templates(operators: Operators, kept: JSONObject) -> Operators:
    """Return operators that use what a run keeps of its prompts; the built-in model's formats are fixed by training.

    kept: as `as_manifest` made it; empty where a run keeps nothing.
    """
    from engine.models.prompts.operators_plain import PlainOperators

    changed = {
        domain: {name: str(text) for name, text in as_object(own).items()}
        for domain, own in as_object(kept.get("changed")).items()
    }
    language = str(kept.get("language", ENGLISH))
    if isinstance(operators, InstructOperators):
        return InstructOperators(changed, language)
    if isinstance(operators, PlainOperators):
        return PlainOperators(changed, language)
    return operators


def preview(domain: str, name: str, template: str) -> str:
    """Return what a model would be sent, with made-up text in the fields.

    Raises:
        UserError: the template is not allowed.
    """
    return _filled(domain, name, check(name, template))


__all__ = [
    "FIELDS", "FILTERS", "NAMES", "SYSTEM", "as_manifest", "check", "checked", "fields_of", "holding", "preview",
    "shipped", "version", "with_templates",
]  # fmt: skip
