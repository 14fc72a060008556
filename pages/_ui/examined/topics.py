"""Long lists of findings by what they are about: one folded part a topic, the first one open.

How to use: `for topic, names in topics.parts(names): with topics.box(topic, place, said, key=...): ...`
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from engine import MEASURES, TOPICS

OTHER = "Other"


def parts(names: Iterable[str]) -> list[tuple[str, list[str]]]:
    """Return title and names of each topic that a name belongs to, in the order of topics and of measures."""
    found: dict[str, list[str]] = {title: [] for title in (*TOPICS.values(), OTHER)}
    order = {name: place for place, name in enumerate(MEASURES)}
    for name in sorted(dict.fromkeys(names), key=lambda name: order.get(name, len(order))):
        found[TOPICS[MEASURES[name].topic] if name in MEASURES else OTHER].append(name)
    return [(title, held) for title, held in found.items() if held]


def box(title: str, said: Sequence[str], *, first: bool, key: str) -> DeltaGenerator:
    """Return the folded part of a topic; what `said` holds stands beside its title, folded or not."""
    return st.expander(" · ".join((f"**{title}**", *said)), expanded=first, key=f"{key}.{title}")
