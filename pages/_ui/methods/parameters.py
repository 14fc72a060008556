"""A method's parameters as fields, made from its pydantic model; checked again by the model.

How to use: `settings = form(spec, key=...)`, then `checked(spec, settings)`, which returns the
settings or draws what is wrong and returns None. `put(spec, values, key=...)`, in a callback, writes settings into the
fields; `fields(spec, key=..., start=...)` draws them where they stand.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

import streamlit as st
from pydantic import ValidationError
from pydantic.fields import FieldInfo

import engine
from engine import JSON
from pages._ui.language import lowered, mark, tr, translator
from pages._ui.methods.parameter_names import GROUPED, GROUPS, TITLES, VALUES
from pages._ui.texts import plain, significant

NONE_TYPE = type(None)
NUMBER = mark("a number")
TRAINING = "tuning"  # whether a method trains before it writes, where that can be chosen
OF_TRAINING = (
    "rank", "alpha", "layers", "tokens", "tuned_model", "steps", "units_a_step", "clip", "rate", "watch_loss",
    "histogram_share",
)  # fmt: skip


def form(spec: engine.MethodSpec | engine.StudySpec, *, key: str, skip: Collection[str] = ()) -> dict[str, JSON]:
    """Draw one field a parameter, folded; return what differs from the defaults.

    Args:
        skip: parameters that are asked for elsewhere on the page.
    """
    count = len([name for name in spec.parameters.model_fields if name not in skip])
    with st.expander(tr("Settings of the method ({count})", count=count), icon=":material/tune:", key=f"{key}.box"):
        st.caption(tr("The defaults come from the method's paper. Change them only if you know why."))
        return fields(spec, key=key, skip=skip)


def fields(
    spec: engine.MethodSpec | engine.StudySpec, *, key: str, skip: Collection[str] = (),
    start: Mapping[str, JSON] = MappingProxyType({}),
) -> dict[str, JSON]:  # fmt: skip
    """Draw one field a parameter; return what differs from the defaults.

    Args:
        skip: parameters that are asked for elsewhere on the page. start: what fields hold at first, else the defaults.
    """
    known, values = spec.parameters.model_fields, dict[str, JSON]()
    skip = {*skip, *_idle(spec, key, start)}
    parts = grouped([name for name in known if name not in skip])
    for group, names in parts.items():
        if len(parts) > 1:
            st.markdown(f"**{tr(GROUPS[group])}**")
        with st.grid(2, min_column_width=190):
            for name in names:
                default = known[name].get_default(call_default_factory=True)
                with st.container():
                    value = _field(name, known[name], start.get(name, default), key=f"{key}.{name}")
                if value != default:
                    values[name] = value
    return {name: values[name] for name in known if name in values}


def grouped(names: Iterable[str]) -> dict[str, list[str]]:
    """Return parameters by what they settle, in the order of the groups; a filter's stand by themselves."""
    found: dict[str, list[str]] = {group: [] for group in GROUPS}
    for name in names:
        group = next((group for group, held in GROUPED.items() if name in held), "method")
        found["filter" if name.startswith("filter_") else group].append(name)
    return {group: held for group, held in found.items() if held}


def _idle(spec: engine.MethodSpec | engine.StudySpec, key: str, start: Mapping[str, JSON]) -> set[str]:
    """Return parameters of a training that is not asked for: they say nothing about the run."""
    known = spec.parameters.model_fields
    if TRAINING not in known:
        return set()
    asked = st.session_state.get(f"{key}.{TRAINING}", start.get(TRAINING, known[TRAINING].get_default()))
    return set(OF_TRAINING) if asked == "none" else set()


def put(spec: engine.MethodSpec, values: Mapping[str, JSON], *, key: str, skip: Collection[str] = ()) -> None:
    """Write settings into the fields, defaults where nothing is said; in a callback, before the fields are drawn."""
    for name, field in spec.parameters.model_fields.items():
        if name in skip:
            continue
        value = values.get(name, field.get_default(call_default_factory=True))
        words = _words_or_number(_unwrapped(field.annotation)[0])
        if words is not None:
            st.session_state[f"{key}.{name}.kind"] = value if value in words else NUMBER
        if words is None or value not in words:
            st.session_state[f"{key}.{name}"] = _shown(field, value)


def checked(spec: engine.MethodSpec | engine.StudySpec, settings: dict[str, JSON]) -> dict[str, JSON] | None:
    """Return the settings if the model accepts them, else draw each broken rule."""
    try:
        spec.parameters.model_validate(settings)
    except ValidationError as error:
        for item in error.errors(include_input=False):
            name = str(item["loc"][0]) if item["loc"] else ""  # a rule about several has no place
            where = f"{title(name, spec.parameters.model_fields.get(name))}: " if name else ""
            st.error(f"{where}{plain(item['msg'].removeprefix('Value error, '))}", icon=":material/error:")
        return None
    return settings


def title(name: str, field: FieldInfo | None = None) -> str:
    """Return a parameter's name in plain words: its own title where it has one, as those of studies do."""
    if field is not None and field.title:
        return plain(field.title)
    inner = name.removeprefix("filter_")
    words = tr(TITLES[inner]) if inner in TITLES else inner.replace("_", " ").capitalize()
    return words if inner == name else tr("Filter: {what}", what=lowered(words[:1]) + words[1:])


def limits(field: FieldInfo) -> tuple[float | None, float | None]:
    """Return the smallest and largest allowed value, None where there is none."""
    low = high = None
    for rule in field.metadata:
        low = next((getattr(rule, name) for name in ("ge", "gt") if getattr(rule, name, None) is not None), low)
        high = next((getattr(rule, name) for name in ("le", "lt") if getattr(rule, name, None) is not None), high)
    return low, high


def describe(field: FieldInfo) -> str:
    """Return what a parameter does, its range and its default."""
    low, high = limits(field)
    parts = [field.description or ""]
    if low is not None and high is not None:
        parts.append(
            tr("Above {low}, at most {high}.", low=significant(low, "g"), high=significant(high, "g"))
            if _above(field)
            else tr("From {low} to {high}.", low=significant(low, "g"), high=significant(high, "g"))
        )
    elif low is not None:
        parts.append(
            tr("Above {low}.", low=significant(low, "g"))
            if _above(field)
            else tr("At least {low}.", low=significant(low, "g"))
        )
    elif high is not None:
        parts.append(tr("At most {high}.", high=significant(high, "g")))
    default = field.get_default(call_default_factory=True)
    shown = tr("nothing") if default in ((), "", None, []) else default
    if isinstance(default, bool):
        shown = tr("on") if default else tr("off")
    parts.append(tr("Default {shown}.", shown=shown))
    return " ".join(part for part in parts if part)


def _above(field: FieldInfo) -> bool:
    """Return whether the lower limit itself is excluded."""
    return any(getattr(rule, "gt", None) is not None for rule in field.metadata)


def _words_or_number(kind: object) -> tuple[str, ...] | None:
    """Return the words of a type such as `Literal["paid"] | float`, or None for other types."""
    if typing.get_origin(kind) not in (typing.Union, types.UnionType):
        return None
    parts = typing.get_args(kind)
    words = [word for part in parts if typing.get_origin(part) is typing.Literal for word in typing.get_args(part)]
    return tuple(words) if words and any(part in (int, float) for part in parts) else None


def _unwrapped(annotation: object) -> tuple[object, bool]:
    """Return the type inside `X | None` and whether None is allowed."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        inner = [argument for argument in typing.get_args(annotation) if argument is not NONE_TYPE]
        if len(inner) > 1:
            return typing.Union[tuple(inner)], len(inner) < len(typing.get_args(annotation))  # noqa: UP007
        return (inner[0] if inner else str), True
    return annotation, False


def _shown(field: FieldInfo, value: JSON) -> JSON:
    """Return what a field's widget holds for a value of the parameter."""
    kind, _ = _unwrapped(field.annotation)
    if typing.get_origin(kind) in (tuple, list, set, frozenset):
        items = value if isinstance(value, list | tuple) else ()
        return "\n".join(str(item) for item in items)
    if kind is float and value is not None:
        return float(value) if isinstance(value, int | float) else value
    return "" if kind is str and value is None else value


def _field(name: str, field: FieldInfo, start: JSON, *, key: str) -> JSON:
    """Draw the field that fits a parameter's type; return its value."""
    label, told = title(name, field), plain(describe(field))
    kind, optional = _unwrapped(field.annotation)
    low, high = limits(field)
    words = _words_or_number(kind)
    if words is not None:
        return _word_or_number(label, start, words, low, high, told, key=key)
    if key not in st.session_state:
        st.session_state[key] = _shown(field, start)
    if typing.get_origin(kind) is typing.Literal:
        options = list(typing.get_args(kind))
        named = {option: VALUES.get((name, option), str(option)) for option in options}
        return st.selectbox(label, options, format_func=translator(named), key=key, persist_state="session", help=told)
    if kind is bool:
        return st.toggle(label, key=key, wrap=True, persist_state="session", help=told)
    if kind in (int, float):
        whole = kind is int
        value = st.number_input(
            label,
            value=None if optional else "min",
            min_value=_whole(low) if whole else None if low is None else float(low),
            max_value=_whole(high) if whole else None if high is None else float(high),
            step=1 if whole else 0.01 if (high or 1) <= 1 else 0.1,
            key=key,
            persist_state="session",
            help=told,
        )
        return None if value is None and optional else value
    if typing.get_origin(kind) in (tuple, list, set, frozenset):
        text = st.text_area(label, key=key, height=70, persist_state="session", help=told)
        return tuple(line.strip() for line in text.splitlines() if line.strip())
    text = st.text_input(label, key=key, persist_state="session", help=told)
    return (text or None) if optional else text


def _word_or_number(
    label: str, start: JSON, words: tuple[str, ...], low: float | None, high: float | None, told: str, *, key: str
) -> JSON:
    """Draw a choice of words and, where a number is chosen instead, its field."""
    if f"{key}.kind" not in st.session_state:
        st.session_state[f"{key}.kind"] = start if start in words else NUMBER
    chosen = st.selectbox(
        label, [*words, NUMBER], format_func=translator(), key=f"{key}.kind", persist_state="session", help=told
    )
    if chosen != NUMBER:
        return chosen
    if key not in st.session_state:
        st.session_state[key] = float(start) if isinstance(start, int | float) else (low or 0.0)
    return st.number_input(
        tr("{label}, number", label=label), min_value=low, max_value=high, step=0.01, key=key, persist_state="session"
    )


def _whole(limit: float | None) -> int | None:
    return None if limit is None else int(limit)
