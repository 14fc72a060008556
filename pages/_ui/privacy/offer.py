"""A study that was not run yet: what it will show, what it costs, and the way to it with this run's settings.

Privacy posture: settings are parameters of a method, never text.
"""

from __future__ import annotations

import json

import streamlit as st

import engine
from engine import JSONObject
from pages._ui.navigation import go
from pages._ui.texts import count_of, plain, seconds

SHOWS = {
    "canary-audit": "Made-up records (canaries) are planted among the training records, each by a fair coin, and the "
    "method is run. From how many coins can be guessed afterwards follows a number that ε cannot be below, whatever is "
    "claimed. It can contradict a proof, and for a method without a proof it says how bad it is at least.",
    "pairs": "The method is run with everyone, without ten people, and twice on the same records. The curves say how "
    "much better than chance an attacker can tell from a few words whether these people were in; what two runs on the "
    "same records show is noise (the null curve), and only what exceeds it is leakage.",
    "surprisal": "Models are tuned, each without some people, and asked how surprised they are by records they have "
    "read and by records left out. It shows what the tuned model itself remembers: its public release, not its texts, "
    "is what is attacked. Records are taken as they are written (word forms); the settings have lemmas beside them.",
    "nll-filter": "RPSG writes once with its likelihood filter and once without it; fresh models are trained on both "
    "outputs and attacked. It shows what the filter keeps from leaking (RPSG's table 14).",
    "ngram-curves": "No method and no model: one word, or three in a row, is drawn straight from the records, with and "
    "without 1 to 1,000 people. It shows what text that only repeats the records' words would give away, how that "
    "grows with the number of people, and how many words occur once. It counts words as they are written (word forms), "
    "and beside them their first forms (lemmas) where something installed tells them for the corpus' language.",
}  # fmt: skip
SURPRISAL_MODELS = 5


def cost(study: str, run: engine.RunSummary) -> str:
    """Return what a study costs at its default settings, in runs of the method, beside what this run took."""
    if study == "canary-audit":
        text = "Costs one run of the method on all training records, with 100 canaries among them."
    elif study == "pairs":
        text = f"Costs {_runs(run.method)} runs of the method with its default settings, of 100 texts each."
    elif study == "surprisal":
        text = f"Costs {SURPRISAL_MODELS} trainings of the model; no text is written unless you ask for it."
    elif study == "ngram-curves":
        return "Costs a minute or two of counting. No budget is spent; the ledger notes that records were read."
    else:
        text = "Costs two runs of RPSG and three small models trained on what they write."
    if run.seconds:
        text += f" This run of {count_of(run.kept, 'text')} took {seconds(run.seconds)}."
    return f"{text} No budget is spent, since what it writes stays inside; the ledger notes that records were read."


def _runs(method: str) -> int:
    from engine import PairsParameters, planned_pairs

    return len(planned_pairs(PairsParameters.model_validate({"method": method}), 1, 0))


def card(study: str, title: str, run: engine.RunSummary) -> None:
    """Draw what a study will show and cost, and the button that opens it with the run's method and settings."""
    with st.container(border=True, key=f"privacy.offer.{study}.{run.id}", gap="small"):
        missing = "Not run yet on this corpus." if study == "ngram-curves" else "Not run yet for this method."
        st.markdown(f":material/science: **{plain(title)}**  \n{missing}")
        st.markdown(plain(SHOWS[study]))
        st.caption(plain(cost(study, run)))
        if st.button("Set it up", key=f"privacy.study.{study}.{run.id}", icon=":material/tune:"):
            set_up(study, run)


def line(study: str, words: str, run: engine.RunSummary) -> None:
    """Draw the same in one line, where there is little room."""
    with st.container(horizontal=True, vertical_alignment="center", key=f"privacy.line.{study}.{run.id}"):
        st.markdown(f":material/science: {plain(words)} Not run yet for this method.")
        if st.button("Set it up", key=f"privacy.line.study.{study}.{run.id}"):
            set_up(study, run)


def set_up(study: str, run: engine.RunSummary) -> None:
    """Open the study on the Compare page with this run's method and settings filled in."""
    from engine import get_study

    fields = get_study(study).spec.parameters.model_fields
    if study == "ngram-curves":  # counting is cheap; where nothing tells lemmas, the study says so
        st.session_state[f"study.settings.{study}.words"] = "both"
    st.session_state["compare.view"] = "Studies"
    st.session_state["study.which"] = study
    if "method" in fields:
        st.session_state[f"study.settings.{study}.method"] = run.method
    if "settings" in fields:
        st.session_state[f"study.settings.{study}.settings"] = settings_line(run.method, run.parameters)
    go("compare")


def settings_line(method: str, parameters: JSONObject) -> str:
    """Return a run's parameters that differ from the method's defaults as `name=value, name=value`.

    Nothing where the line would not be read back as it is, or is too long for the field.
    """
    from engine import get_method, parsed_settings

    try:
        fields = get_method(method).spec.parameters.model_fields
    except engine.UserError:  # a method that is not there any more
        return ""
    own = {
        name: value
        for name, value in parameters.items()
        if name in fields and value != _plain(fields[name].get_default(call_default_factory=True))
    }
    text = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in own.items())
    return text if len(text) <= 4000 and parsed_settings(text) == own else ""


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
