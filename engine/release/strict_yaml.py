"""Read a small YAML file into a model, strictly: a refusal names the line, and nothing is guessed or run.

The loader makes plain values only; anchors, repeated keys and unknown fields are refused, so that the file says what a
reader sees in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from engine.errors import UserError

Model = TypeVar("Model", bound=BaseModel)


def read_strict(text: str, name: str, model: type[Model], *, largest: int, compare: str) -> Model:
    """Return what a file says, as a model.

    Args:
        text: the file's content. name: what the file is called, for a refusal. model: what it must hold; it refuses
            fields that it does not know. largest: bytes that are read. compare: what a good file can be seen in.

    Raises:
        UserError: the file is too large, is not YAML, or breaks the model; says the line and the field.
    """
    if len(text.encode("utf-8", "replace")) > largest:
        raise UserError(f"{name}: at most {largest // 1024} KiB are read; this file is larger")
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
        raise UserError(f"{name}{where}: this is not valid YAML; compare it with {compare}") from None
    except (ValueError, RecursionError):  # a date that is none, or far too deep
        raise UserError(f"{name}: a value in it cannot be read; compare it with {compare}") from None
    try:
        return model.model_validate(content)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or name
        said = "there is no such field" if first["type"] == "extra_forbidden" else first["msg"]
        raise UserError(f"{name}, line {_line(tree, first['loc'])}: {where}: {said}") from None


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
