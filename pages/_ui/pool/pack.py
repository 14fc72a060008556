"""Writing a prompt pack: its words, everything that would leave, and the declaration before anything does."""

from __future__ import annotations

import zlib
from functools import partial

import pandas as pd
import streamlit as st

import engine
from engine import JSON, PACK_DECLARED
from engine import PROMPT_DOMAINS as DOMAINS
from pages._ui import states
from pages._ui.current import run_names
from pages._ui.models.describe import DOMAINS as DOMAIN_NAMES
from pages._ui.parts import once
from pages._ui.pool import view
from pages._ui.texts import count_of, number, plain, when

KEY = "pool.pack"
PUBLIC = "public words alone"
SHOWN = 3
LINES = 112  # pixels of a field of three lines
SPREAD = {"even": "As many of each winner", "votes": "In proportion to noisy votes"}
ASKED = {"vary": "A variation", "rephrase": "Other words, in a style", "cross": "One text from two winners"}


def draw(workspace: engine.Workspace, corpus: engine.CorpusSummary | None) -> None:
    """Draw the questions, what leaves, and the button that logs it."""
    labels = {} if corpus is None else run_names(workspace.runs.all(corpus.id))
    runs = {} if corpus is None else {run: labels[run] for run in workspace.packs.runs(corpus.id)}
    run = ""
    if runs:
        chosen = st.selectbox(
            "Write prompts from", [PUBLIC, *runs], format_func=lambda one: runs.get(one, "Public words alone"),
            key=f"{KEY}.run",
            help="A further round: the texts that a finished run chose are varied elsewhere and voted on again.",
        )  # fmt: skip
        run = "" if chosen == PUBLIC else str(chosen)
        if run:
            st.caption(
                "Choose the run by its plan. One that is chosen among several for how it compares with private "
                "records is a selection that no claim covers."
            )
    words = _round(workspace, corpus) if run else _words(workspace, corpus)
    try:
        draft = workspace.packs.draft(words, run)
    except (engine.UserError, engine.NotFoundError) as error:
        states.failed("No prompts can be written", str(error), "Nothing left. Change the words, or choose another run.")
        return
    st.markdown("**Everything that leaves**")
    st.caption(
        f"{count_of(len(draft.prompts), 'prompt')}, {number(draft.characters)} characters, and nothing else: no "
        "record, no count, no name of a corpus."
    )
    st.dataframe(
        pd.DataFrame(
            [(one.what, one.content, one.why) for one in draft.listed],
            columns=["What", "Content", "Why this may leave"],
        ),
        hide_index=True, key=f"{KEY}.listed", alt="Everything that leaves with the prompts",
        column_config={
            name: st.column_config.TextColumn(width=width)
            for name, width in (("What", 140), ("Content", 260), ("Why this may leave", 280))
        },
    )  # fmt: skip
    mark = zlib.crc32("\x1f".join(one.prompt for one in draft.prompts).encode())
    with st.expander(f"The first {SHOWN} prompts as they leave", key=f"{KEY}.first"):
        for i, one in enumerate(draft.prompts[:SHOWN]):
            st.text_area(f"Prompt {i + 1}", one.prompt, disabled=True, height=140, key=f"{KEY}.prompt.{i}.{mark}")
    declared = st.checkbox(PACK_DECLARED, key=f"{KEY}.declared.{mark}", wrap=True)  # other words are declared anew
    if not st.button(
        "Write this pack", type="primary", icon=":material/outbox:", key=f"{KEY}.write", disabled=not declared
    ):
        once.rearm(f"{KEY}.write")
        return
    made = once.act(f"{KEY}.write", partial(states.act, workspace.packs.write, words, run, declared=declared))
    if made is not None:
        states.notice(f"Pack {made.id} is written and logged. Its files are here.")
        view.lead_on(view.LEFT)
    st.rerun()


def _lines(label: str, name: str, example: str, given: str = "") -> list[str]:
    found = st.text_area(label, value=given, key=f"{KEY}.{name}", height=LINES, placeholder=f"for example\n{example}")
    return [line.strip() for line in (found or "").splitlines() if line.strip()]


def _domain(workspace: engine.Workspace, corpus: engine.CorpusSummary | None) -> str:
    """Ask for the kind of text; what was declared public of the corpus is filled in."""
    said = None if corpus is None else workspace.descriptions.get(corpus.id)
    index = DOMAINS.index(said.domain) if said is not None and said.domain in DOMAINS else DOMAINS.index("generic")
    key = f"{KEY}.domain.{corpus.id if corpus else ''}"
    chosen = str(
        st.selectbox(
            "Kind of text", DOMAINS, index=index, key=key,
            format_func=lambda one: f"{DOMAIN_NAMES[one]} ({one})",
            help="It chooses the public lists of templates, key words and writers that the prompts are made from.",
        )
    )  # fmt: skip
    if corpus is not None and said is None and chosen == "generic":
        st.warning(
            f"No kind of text is chosen, so the answers will hardly read like {plain(corpus.name)}. Nobody has "
            f"declared what kind of text {plain(corpus.name)} is. Choose its kind if that may be known: it leaves with "
            "the prompts.",
            icon=":material/warning:",
        )
        _propose(workspace, corpus, key)
    return chosen


def _propose(workspace: engine.Workspace, corpus: engine.CorpusSummary, key: str) -> None:
    """Offer the kind of text that public words tell, once somebody says that it may be known; `key` of the choice."""
    kind = engine.proposed_preset(
        [corpus.name, *workspace.corpora.columns(corpus.id), *workspace.labels.public(corpus.id)]
    )
    if kind not in DOMAIN_NAMES:
        return
    title = DOMAIN_NAMES[kind]
    st.caption(f"“{title}” is proposed by what the corpus, its columns or its public labels are called; no record was "
               "read for it.")  # fmt: skip
    known = st.checkbox(f"Whoever answers the prompts may know this: {title}", key=f"{key}.may.{kind}", wrap=True)
    st.button(
        f"Use “{title}”", icon=":material/lightbulb:", key=f"{key}.use", disabled=not known,
        on_click=st.session_state.__setitem__, args=(key, kind),
    )  # fmt: skip


def _language(workspace: engine.Workspace, corpus: engine.CorpusSummary | None) -> str:
    """Ask for the language of the prompts; what was declared public of the corpus is filled in."""
    said, codes = None if corpus is None else workspace.descriptions.get(corpus.id), engine.prompt_languages()
    index = codes.index(said.language) if said is not None and said.language in codes else 0
    return str(
        st.selectbox(
            "Language",
            codes,
            index=index,
            format_func=engine.LANGUAGE_NAMES.__getitem__,
            key=f"{KEY}.language.{corpus.id if corpus else ''}",
        )
    )


def _words(workspace: engine.Workspace, corpus: engine.CorpusSummary | None) -> dict[str, JSON]:
    """Ask for public words; a list of labels that was declared public can be taken."""
    public = list(workspace.labels.public(corpus.id)) if corpus is not None else []
    said = None if corpus is None else workspace.descriptions.get(corpus.id)
    own = corpus.id if corpus is not None else ""
    st.markdown("One word or phrase a line. Write down what is public knowledge; nothing here is taken from records.")
    left, right = st.columns(2)  # a row of fields each, so that neighbours stand at one height
    with left:
        domain = _domain(workspace, corpus)
    with right:
        language = _language(workspace, corpus)
    left, right = st.columns(2)
    with left:
        kind = st.text_input(
            "Kind of document", value=said.kind if said is not None else "", key=f"{KEY}.kind.{own}", max_chars=120,
            placeholder="for example: clinic letter",
        )  # fmt: skip
    with right:
        one, other = st.columns(2)
        lengths = one.text_input("Lengths in words", value="60, 120", key=f"{KEY}.lengths")
        count = other.number_input("Prompts", 1, 20_000, 500, step=100, key=f"{KEY}.count")
    left, right = st.columns(2)
    with left:
        topics = _lines("Topics", "topics", "falls at home\nside effects of a vaccine")
    with right:
        keywords = _lines("Key words (empty: a public list)", "keywords", "fever\nbruise")
    left, right = st.columns(2)
    with left:
        labels = _lines("Labels", f"labels.{own}", "recovered\nnot recovered")
        if corpus is not None and public:
            _own_labels(workspace, corpus, public, f"labels.{own}")
    with right:
        styles = _lines("Styles", "styles", "in short phrases\nin full sentences")
    sizes = [int(part) for part in str(lengths).replace(";", ",").split(",") if part.strip().isdigit()]
    return {
        "domain": domain, "language": language, "kind": str(kind or ""), "topics": topics, "keywords": keywords,
        "labels": labels,
        "styles": styles, "lengths": sizes, "count": int(count),
    }  # fmt: skip


def _own_labels(workspace: engine.Workspace, corpus: engine.CorpusSummary, public: list[str], name: str) -> None:
    """Offer the labels of the corpus that a person declared public, and say who did, and when."""
    known = workspace.labels.known(corpus.id)
    st.button(
        f"Take the {count_of(len(public), 'label')} of {plain(corpus.name)}", key=f"{KEY}.take.{corpus.id}",
        icon=":material/label:", on_click=st.session_state.__setitem__, args=(f"{KEY}.{name}", "\n".join(public)),
        help="They come from the private corpus, and leave with the prompts.",
    )  # fmt: skip
    st.caption(f"{plain(known.actor)} declared them public on {when(known.at)}.")


def _round(workspace: engine.Workspace, corpus: engine.CorpusSummary | None) -> dict[str, JSON]:
    """Ask how the winners of a run are to be varied."""
    left, right = st.columns(2)
    with left:
        domain, language = _domain(workspace, corpus), _language(workspace, corpus)
        operator = st.selectbox("What is asked for", list(ASKED), format_func=ASKED.__getitem__, key=f"{KEY}.operator")
    with right:
        variations = st.number_input("Prompts a winner", 1, 20, 4, key=f"{KEY}.variations")
        spread = st.selectbox("How many of each", list(SPREAD), format_func=SPREAD.__getitem__, key=f"{KEY}.spread")
    return {
        "domain": domain, "language": language, "operator": operator, "variations": int(variations), "spread": spread,
    }  # fmt: skip
