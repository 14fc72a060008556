"""Read a policy from YAML, strictly: a refusal names the line, and nothing is guessed or run.

The loader makes plain values only; anchors, repeated keys and unknown fields are refused, so that the file says what
a reader sees in it. What no policy can leave out (no original leaves, only approved records, nothing stale) is not
written in a policy and cannot be switched off by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import yaml
from pydantic import ValidationError

from engine.errors import UserError
from engine.examine.measures import MEASURES
from engine.release.policy import Policy, policies

LARGEST = 64 * 1024  # bytes


def read_policy(text: str, name: str = "policy") -> Policy:
    """Return the policy of a file.

    Args:
        text: the file's content. name: what the file is called, for a refusal.

    Raises:
        UserError: the file is too large, is not YAML, or breaks the schema; says the line and the field.
    """
    if len(text.encode("utf-8", "replace")) > LARGEST:
        raise UserError(f"{name}: at most {LARGEST // 1024} KiB are read; this file is larger")
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if getattr(event, "anchor", None):
                raise UserError(f"{name}: anchors and references are not read ({getattr(event, 'anchor', '')!r})")
        tree = yaml.compose(text, Loader=yaml.SafeLoader)
        for key in _repeated(tree):
            raise UserError(f"{name}, line {key.start_mark.line + 1}: {key.value!r} stands here twice")
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark is not None else ""
        raise UserError(f"{name}{where}: this is not valid YAML; compare it with a preset") from None
    except (ValueError, RecursionError):  # a date that is none, or far too deep
        raise UserError(f"{name}: a value in it cannot be read; compare it with a preset") from None
    try:
        return Policy.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "policy"
        said = "there is no such field" if first["type"] == "extra_forbidden" else first["msg"]
        raise UserError(f"{name}, line {_line(tree, first['loc'])}: {where}: {said}") from None


def read_own(text: str, name: str = "policy") -> Policy:
    """Return a custodian's own policy; see `read_policy`.

    Raises:
        UserError: as there; or it takes a preset's id or title, asks for a finding that does not exist, or takes
            reasons for a missing number that no preset takes.
    """
    policy, presets = read_policy(text, name), policies()
    if any(policy.id == one.id or policy.title.casefold() == one.title.casefold() for one in presets):
        raise UserError(f"{name}: id, title: a preset is called so; choose another name for your own policy")
    reasons = {reason for one in presets for rule in one.rules for reason in rule.nothing_to_leak}
    for rule in policy.rules:
        if rule.finding not in MEASURES:
            raise UserError(f"{name}: rules: {rule.id}: no finding is called {rule.finding!r}")
        if not set(rule.nothing_to_leak) <= reasons:
            raise UserError(
                f"{name}: rules: {rule.id}: nothing_to_leak: only the reasons of the presets count: "
                f"{'; '.join(sorted(reasons))}"
            )
    return policy


def _repeated(node: yaml.Node | None) -> Iterator[yaml.ScalarNode]:
    """Yield keys that stand twice in one mapping."""
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    yield key
                seen.add(key.value)
            yield from _repeated(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _repeated(item)


def _line(node: yaml.Node | None, where: Sequence[int | str]) -> int:
    """Return the line of a field, or of the nearest one around it that is there; lines count from 1."""
    line = 1 if node is None else node.start_mark.line + 1
    for part in where:
        if isinstance(node, yaml.MappingNode):
            pair = next(((key, value) for key, value in node.value if key.value == part), None)
            if pair is None:
                break
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
        else:
            break
    return int(line)
