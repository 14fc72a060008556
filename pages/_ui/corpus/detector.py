"""Detector settings: which recognisers run, how sure they must be, and the custodian's own lists.

Privacy posture: known identifiers and lists are private; they are saved with the corpus and shown
only in their input fields.
"""

from __future__ import annotations

import streamlit as st

import engine
from engine import LABELS, DetectorSettings, detector_presets, known_languages, proposed_preset
from pages._ui import states
from pages._ui.corpus import detector_patterns
from pages._ui.language import mark, tr
from pages._ui.language.words import language_name
from pages._ui.parts.pager import digest
from pages._ui.sign_in.closed import lacks
from pages._ui.texts import count_of, label_name, number, seconds, share

START_SECONDS, WORDS_A_SECOND = 5.0, 1500.0  # loading the taggers; a detection of 2,000 short records beside other work


def first_time(workspace: engine.Workspace, corpus: engine.CorpusSummary) -> None:
    """Draw the page of a corpus in which nothing was looked for yet."""
    with st.container(border=True, key="review.first"):
        st.subheader(tr("Nothing was looked for yet"), anchor=False)
        st.markdown(
            tr(
                "The detector reads all {records} and proposes what identifies people: names, places, "
                "dates, numbers. You then decide. It runs on this machine and takes about {time}; longer while other "
                "work goes on.",
                records=count_of(corpus.records, "record"),
                time=seconds(_expected(workspace, corpus)),
            )
        )
        saved = workspace.review.detector_settings(corpus.id)
        kind = f"review.first.preset.{corpus.id}"
        chosen = _preset(saved, kind)
        spoken = _language(saved, f"review.first.language.{corpus.id}")
        fits = _fitting(workspace, corpus, chosen)
        with st.container(horizontal=True, vertical_alignment="center"):
            start_button(workspace, corpus, preset=chosen, language=spoken)
            if fits:
                st.button(
                    tr("Choose “{preset}”", preset=detector_presets()[fits].title),
                    key="review.first.proposed",
                    icon=":material/lightbulb:",
                    on_click=_choose,
                    args=(kind, fits),
                )
        if fits:
            st.caption(
                tr(
                    "“{preset}” is proposed by what this corpus, its columns or its public labels are called; no "
                    "record was read for it.",
                    preset=detector_presets()[fits].title,
                )
            )
    with st.expander(tr("Detector settings"), icon=":material/tune:", key="review.first.settings"):
        panel(workspace, corpus, start=False)


def _fitting(workspace: engine.Workspace, corpus: engine.CorpusSummary, chosen: str) -> str:
    """Return the preset that public words about the corpus tell, empty where none is told or it is chosen."""
    declared = workspace.descriptions.get(corpus.id)
    said = [corpus.name, *workspace.corpora.columns(corpus.id), *workspace.labels.public(corpus.id)]
    if declared is not None:
        said += [declared.kind, declared.domain]
    told = proposed_preset(said)
    return "" if told is None or told == chosen else told


def _better(workspace: engine.Workspace, corpus: engine.CorpusSummary, saved: DetectorSettings) -> str:
    """Offer to look again under the preset that public words tell, where another is kept; return it once pressed."""
    fits = _fitting(workspace, corpus, saved.preset)
    if not fits:
        return ""
    title = detector_presets()[fits].title
    with st.container(border=True, key="review.set.better", gap="small"):
        st.markdown(
            tr(
                "“{preset}” is proposed by what this corpus, its columns or its public labels are called; no "
                "record was read for it.",
                preset=title,
            )
        )
        pressed = st.button(
            tr("Use “{preset}” and look again", preset=title), key="review.set.proposed", icon=":material/lightbulb:"
        )
    return fits if pressed else ""


def proposal(workspace: engine.Workspace, corpus: engine.CorpusSummary) -> bool:
    """Offer in a line above the findings to look again as the kind of text that public words tell; return if drawn.

    It is for whoever may look again.
    """
    away = f"review.proposal.away.{corpus.id}"
    if corpus.span_source != "detected" or st.session_state.get(away) or lacks(engine.Right.MANAGE):
        return False
    saved = workspace.review.detector_settings(corpus.id)
    fits = _fitting(workspace, corpus, saved.preset)
    if not fits:
        return False
    known = detector_presets()
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="review.proposal"):
        st.markdown(
            tr(
                ":material/lightbulb: This was read as “{now}”; by its name or columns it is “{preset}”.",
                now=known[saved.preset].title,
                preset=known[fits].title,
            ),
            width="content",
            help=known[fits].note
            + " "
            + tr("Your decisions are kept. Findings change, and a run made before then counts as out of date."),
        )
        st.button(
            tr("Use “{preset}” and look again", preset=known[fits].title), key="review.proposal.use",
            on_click=_start, args=(workspace, corpus.id, fits, None),
        )  # fmt: skip
        st.button(tr("Leave it"), key="review.proposal.leave", type="tertiary", on_click=_set_aside, args=(away,))
    return True


def _set_aside(key: str) -> None:
    """Offer it no more in this session; a callback."""
    st.session_state[key] = True


def _choose(key: str, preset: str) -> None:
    """Choose a preset in place of the person, who pressed its button; a callback."""
    st.session_state[key] = preset


def _expected(workspace: engine.Workspace, corpus: engine.CorpusSummary) -> float:
    """Return how many seconds looking for identifiers takes two processor cores that have nothing else to do."""
    words = workspace.corpora.statistics(corpus.id).words
    return START_SECONDS + corpus.records * float(words.get("mean", words.get("p50", 0.0))) / WORDS_A_SECOND


def start_button(
    workspace: engine.Workspace,
    corpus: engine.CorpusSummary,
    label: str = "",
    preset: str | None = None,
    language: str | None = None,
) -> None:
    """Draw the button that starts detection, under another preset or language where one is given."""
    st.button(
        label or tr("Look for identifiers"),
        type="primary",
        icon=":material/search:",
        key="review.detect.start",
        on_click=_start,
        args=(workspace, corpus.id, preset, language),
    )


def _start(workspace: engine.Workspace, corpus_id: str, preset: str | None, language: str | None) -> None:
    """Keep preset and language and start detection; a callback."""
    saved = workspace.review.detector_settings(corpus_id)
    asked = {"preset": preset or saved.preset, "language": language or saved.language}

    def start() -> str:
        if asked != {"preset": saved.preset, "language": saved.language}:
            changed = DetectorSettings.from_dict({**saved.model_dump(), **asked})
            workspace.review.set_detector_settings(corpus_id, changed)
        return workspace.jobs.detect(corpus_id)

    states.act(start)


def _preset(saved: DetectorSettings, key: str) -> str:
    """Ask what kind of text it is; return the preset."""
    known = detector_presets()
    names = [str(name) for name in known]
    chosen = st.radio(
        tr("What kind of text is it?"),
        names,
        index=names.index(saved.preset),
        format_func=lambda name: known[name].title,
        captions=[known[name].note for name in names],
        key=key,
        help=tr(
            "The same is looked for in each kind. It decides what is replaced without a decision of yours; the rest "
            "is shown to you as a suggestion and stays in the text until you accept it."
        ),
    )
    return chosen or saved.preset


def _language(saved: DetectorSettings, key: str) -> str:
    """Ask in which language the records are; return its code or `auto`."""
    names = {"auto": tr("Each record its own, told from its words")} | {
        x.code: language_name(x.code, x.name) for x in known_languages()
    }
    names.setdefault(saved.language, engine.language_name(saved.language))
    chosen = st.selectbox(
        tr("Language of the records"),
        list(names),
        index=list(names).index(saved.language),
        format_func=names.__getitem__,
        key=key,
        help=tr(
            "Decides by which rules a record is read. A record too short to tell goes with most of the corpus. "
            "Settings shows what each language has and has not."
        ),
    )
    return chosen or saved.language


def panel(workspace: engine.Workspace, corpus: engine.CorpusSummary, *, start: bool = True) -> None:
    """Draw all settings with a save button."""
    saved = workspace.review.detector_settings(corpus.id)
    mark = digest([corpus.id, saved.to_json()])
    st.caption(tr("Settings count from the next look for identifiers on. Your decisions on findings are kept."))
    proposed = _better(workspace, corpus, saved) if start else ""
    preset = _preset(saved, f"review.set.preset.{mark}") if start else saved.preset
    language = _language(saved, f"review.set.language.{mark}") if start else saved.language
    left, right = st.columns(2, gap="medium")
    with left:
        disabled, tagger = _recognisers(saved, mark)
        thresholds = _thresholds(saved, mark)
    with right:
        known, fuzzy = _known(saved, mark)
        allow = _lines(
            tr("Never mark these"), saved.allow, f"review.set.allow.{mark}", tr("Allow list: one value a line.")
        )
        deny = _lines(
            tr("Always mark these"), saved.deny, f"review.set.deny.{mark}", tr("Deny list: one value a line.")
        )
        paths = _models(saved, mark)
    patterns = detector_patterns.editor(saved, mark)
    values = {
        **saved.model_dump(),
        "preset": proposed or preset,
        "language": language,
        "disabled": disabled,
        "tagger": tagger,
        "thresholds": thresholds,
        "known": known,
        "fuzzy": fuzzy,
        "allow": allow,
        "deny": deny,
        "patterns": patterns,
        **paths,
    }
    with st.container(horizontal=True):
        save = st.button(tr("Save settings"), key="review.set.save", icon=":material/save:")
        again = start and st.button(
            tr("Save and look again"), key="review.set.again", type="primary", icon=":material/search:"
        )
    if save or again or proposed:  # what was typed beside a proposal is kept with it
        _save(workspace, corpus.id, values, bool(again or proposed))
        st.rerun()
    if start and corpus.has_gold:
        _gold(workspace, corpus)


def _save(workspace: engine.Workspace, corpus_id: str, values: dict[str, object], again: bool) -> None:
    """Check and save the settings as they stand in this run, and look again where asked."""
    settings = states.act(DetectorSettings.from_dict, values)
    if settings is None:
        return
    try:
        workspace.review.set_detector_settings(corpus_id, settings)
    except engine.UserError as error:
        states.notice(str(error), kind="problem")
        return
    states.notice(tr("Detector settings saved."))
    if again:
        states.act(workspace.jobs.detect, corpus_id)


def _recognisers(saved: DetectorSettings, mark: str) -> tuple[list[str], bool]:
    from engine import recognisers

    titles = {entry.id: entry.title for entry in recognisers() if entry.id != "tagger"}
    st.markdown(tr("**Recognisers**"))
    tagger = st.toggle(tr("Built-in tagger for names, places, organisations and dates"), value=saved.tagger,
                       key=f"review.set.tagger.{mark}", wrap=True)  # fmt: skip
    off = st.multiselect(
        tr("Switched off"),
        list(titles),
        default=[name for name in titles if name in saved.disabled],
        format_func=lambda name: titles[name],
        key=f"review.set.disabled.{mark}",
        placeholder=tr("none"),
        help=tr("Everything not listed here runs."),
    )
    st.caption(tr("{n} of {all} other recognisers run.", n=len(titles) - len(off), all=len(titles)))
    return off, tagger


def _thresholds(saved: DetectorSettings, mark: str) -> dict[str, float]:
    """Ask from which confidence on a finding counts as accepted, a type."""
    with st.expander(tr("From which confidence a finding counts as accepted"), key=f"review.set.thresholds.{mark}"):
        st.caption(tr("Between 0 and 1. Lower finds more and replaces more that is harmless."))
        values: dict[str, float] = {}
        with st.grid(2, min_column_width=180):
            for label in LABELS:
                values[label] = st.number_input(
                    label_name(label).capitalize(),
                    min_value=0.0,
                    max_value=1.0,
                    value=saved.threshold(label),
                    step=0.05,
                    key=f"review.set.threshold.{label}.{mark}",
                )
    return {label: value for label, value in values.items() if value != 0.5 or label in saved.thresholds}


def _known(saved: DetectorSettings, mark: str) -> tuple[list[dict[str, str]], bool]:
    st.markdown(tr("**Your own lists**"))
    text = st.text_area(
        tr("Known identifiers"),
        value="\n".join(f"{known.value} | {known.label}" for known in saved.known),
        key=f"review.set.known.{mark}",
        height=110,
        help=tr("One a line, such as a patient list. A type may follow: “Lyon | place”. Without one it is a name."),
    )
    fuzzy = st.toggle(tr("Find misspelt ones too"), value=saved.fuzzy, key=f"review.set.fuzzy.{mark}", wrap=True)
    return parse_known(text), fuzzy


def parse_known(text: str) -> list[dict[str, str]]:
    """Return value and label of each line `value | type`; a type may be a label or its plain name."""
    names = {said[0].casefold(): label for label, said in LABELS.items()}
    names |= {label_name(label).casefold(): label for label in LABELS}
    known = []
    for line in text.splitlines():
        value, bar, kind = line.rpartition("|") if "|" in line else (line, "", "")
        if value.strip():
            wanted = kind.strip()
            label = names.get(wanted.casefold(), wanted) if bar and wanted else "PERSON"
            known.append({"value": value.strip(), "label": label})
    return known


def _lines(label: str, values: tuple[str, ...], key: str, note: str) -> list[str]:
    text = st.text_area(label, value="\n".join(values), key=key, height=90, help=note)
    return [line.strip() for line in text.splitlines() if line.strip()]


def _models(saved: DetectorSettings, mark: str) -> dict[str, str | None]:
    with st.expander(tr("Other models on this machine"), key=f"review.set.models.{mark}"):
        tagger = st.text_input(tr("Folder of a tagger that replaces the built-in one"), value=saved.tagger_model or "",
                               key=f"review.set.tagger_model.{mark}")  # fmt: skip
        spacy = st.text_input(tr("Folder of a spaCy model to run as well"), value=saved.spacy_model or "",
                              key=f"review.set.spacy_model.{mark}")  # fmt: skip
    return {"tagger_model": tagger.strip() or None, "spacy_model": spacy.strip() or None}


def _gold(workspace: engine.Workspace, corpus: engine.CorpusSummary) -> None:
    """Offer the file's own marks, and a comparison with them on request."""
    st.markdown(tr("**Marks that came with the file**"))
    with st.container(horizontal=True):
        st.button(
            tr("Use the file's marks in place of the findings"),
            key="review.gold",
            on_click=states.act,
            args=(workspace.review.use_gold, corpus.id),
            kwargs={"done": tr("The file's own marks are now the findings.")},
        )
        compare = st.button(tr("How well do the findings match them?"), key="review.gold.compare")
    if not compare:
        return
    result = workspace.values.gold_evaluation(corpus.id)
    if result is None:
        return
    st.markdown(
        tr(
            "In {records} the file marks {marked} passages, and {accepted} are accepted here. Each share comes with "
            "its 95% interval.",
            records=count_of(result["records"], "record"),
            marked=number(result["gold_spans"]),
            accepted=number(result["predicted_spans"]),
        )
    )
    shares = (
        (mark("Direct identifiers that are masked wherever they stand"), result["direct_recall"], mark("entities")),
        (mark("Other identifiers that are masked wherever they stand"), result["quasi_recall"], mark("entities")),
        (mark("Masked words that the file marks too"), result["token_precision"], mark("words")),
        (mark("Findings that touch a marked word"), result["mention_precision"], mark("findings")),
        (
            mark("Masked mentions that are replaced by something of their kind"),
            result["type_accuracy"],
            mark("mentions"),
        ),
        (mark("Names of several words that are masked only in part"), result["cut_names"], mark("names")),
    )
    for title, found, what in shares:
        if found["value"] is None:
            st.caption(tr("{title}: nothing to measure.", title=tr(title)))
        else:
            st.caption(
                tr(
                    "{title}: {share} ({low} to {high}) of {n} {what}.",
                    title=tr(title),
                    share=share(found["value"]),
                    low=share(found["low"]),
                    high=share(found["high"]),
                    n=number(found["n"]),
                    what=tr(what),
                )
            )
