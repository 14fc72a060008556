"""What a run asked of a server: requests, tokens and what they cost, live and afterwards.

Privacy posture: counts and prices only.
"""

from __future__ import annotations

import math

import streamlit as st

import engine
from engine import JSONObject, as_number, as_object
from pages._ui.texts import count_of, number, plain

NOTED, PREFIX = "endpoint", "endpoint:"
NAMES = ("requests", "retries", "tokens_in", "tokens_out", "counted", "waited_seconds", "cost")


def asked(diagnostics: JSONObject) -> dict[str, float]:
    """Return a run's counts of what it asked of a server; empty where it asked nothing."""
    noted = as_object(diagnostics.get(NOTED))
    found: dict[str, float] = {}
    for name in NAMES:
        value = as_number(noted.get(name, 0))
        if value is None or value != value:
            return {}
        found[name] = value
    return found if found["requests"] else {}


def sentences(found: dict[str, float]) -> list[str]:
    """Return what has to be said beside the numbers."""
    guessed = int(found["requests"] - found["counted"])
    said = []
    if guessed > 0:
        said.append(f"The server did not say how many tokens {count_of(guessed, 'request')} took; they are estimated.")
    if found["retries"]:
        said.append(f"{count_of(int(found['retries']), 'request')} had to be made again; a server may bill those too.")
    if found["waited_seconds"] >= 1.0:
        said.append(f"Waited {number(found['waited_seconds'], 0)} s for the server's limits.")
    if found["cost"]:
        said.append("The cost follows from the prices on the Models page, in the currency you gave them in.")
    else:
        said.append("No prices are given on the Models page, so no cost is counted.")
    return said


def draw(workspace: engine.Workspace, run: engine.RunSummary) -> None:
    """Draw the counts of a run with a server; nothing for other runs."""
    found = asked(workspace.runs.diagnostics(run.id)) if str(run.model).startswith(PREFIX) else {}
    if not found:
        return
    with st.container(border=True, key=f"run.endpoint.{run.id}"):
        st.markdown(f"**Asked of the server** {plain(str(run.model).removeprefix(PREFIX))}")
        first, second, third, fourth = st.columns(4)
        first.metric("Requests", number(int(found["requests"])))
        second.metric("Tokens sent", number(int(found["tokens_in"])))
        third.metric("Tokens written", number(int(found["tokens_out"])))
        fourth.metric("Cost", cost(found["cost"]) if found["cost"] else "not counted")
        st.caption(" ".join(sentences(found)))


def cost(value: float) -> str:
    """Return a cost in two decimals, or with two digits where it is small."""
    return f"{value:,.{2 if value >= 0.1 else min(9, 1 - math.floor(math.log10(value)))}f}"
