"""Choosing and importing a file on the load page.

Privacy posture: an upload stays in this session's memory until it is imported, then the uploader
is emptied; the preview of ten rows lives in the session only. A path is read where it lies.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

import engine
from pages._ui import states
from pages._ui.current import choose_corpus
from pages._ui.language import mark, tr, translator
from pages._ui.parts import once
from pages._ui.texts import count_of

if TYPE_CHECKING:
    from engine import ColumnMapping

UPLOAD, PATH = mark("Upload from this computer"), mark("Path on this machine")
PREVIEW = "_ui.load.preview"
NEXT_VIEW = "_ui.load.next_view"


@dataclass(frozen=True)
class Chosen:
    """A file the custodian chose: where it is, how to read it, and a digest of both for keys.

    place: what stays when the same table is read another way; another upload of that name, a file that was replaced
        and another sheet are others.
    """

    source: Path | bytes
    filename: str
    digest: str
    encoding: str | None
    delimiter: str | None
    sheet: str | None
    place: str

    @property
    def stem(self) -> str:
        """Return the file name without its suffix."""
        return Path(self.filename).stem

    def options(self) -> engine.ReadOptions:
        """Return the reading options."""
        from engine import ReadOptions

        return ReadOptions(encoding=self.encoding, delimiter=self.delimiter, sheet=self.sheet)


def choose() -> Chosen | None:
    """Draw the ways to name a file; return the choice, or None so far."""
    from engine import FILE_FORMATS

    way = st.radio(
        tr("Where is it?"),
        [UPLOAD, PATH],
        format_func=translator(),
        key="load.way",
        horizontal=True,
        label_visibility="collapsed",
    )
    source: Path | bytes | None = None
    filename = identity = ""
    if way == UPLOAD:
        generation = st.session_state.setdefault("_ui.load.generation", 0)
        read = ", ".join(sorted({suffix.lstrip(".").upper() for known in FILE_FORMATS for suffix in known.suffixes}))
        # any ending is taken: what cannot be read is refused by the reader's own sentence, which says what to do
        upload = st.file_uploader(
            tr("File: {read}, also packed as GZ; a ZIP may hold text, Word or PDF files", read=read),
            key=f"load.file.{generation}",
        )
        if upload is not None:
            source, filename, identity = upload.getvalue(), upload.name, upload.file_id
    else:
        typed = st.text_input(
            tr("Path of a file, or of a folder of texts (.txt, .docx, .pdf)"),
            key="load.path",
            persist_state="session",
            placeholder="/data/letters.csv",
        )
        if typed and typed.strip():
            source = Path(typed.strip()).expanduser()
            filename = source.name
            identity = f"{source}:{source.stat().st_mtime_ns if source.exists() else 0}"
    with st.container(horizontal=True):
        _examples()
        encoding, delimiter, sheet = _reading()
    if source is None:
        return None
    words = "\x1f".join((identity, str(encoding), str(delimiter), str(sheet)))
    digest = hashlib.sha256(words.encode()).hexdigest()[:12]
    return Chosen(source, filename, digest, encoding, delimiter, sheet, "\x1f".join((identity, str(sheet))))


def _examples() -> None:
    """Offer one example file a format, made when it is asked for."""
    from engine import FILE_FORMATS, example_file

    with st.popover(tr("Examples of each format"), icon=":material/description:", key="load.examples"):
        for known in FILE_FORMATS:
            name, _ = example_file(known.id)
            st.download_button(
                f"{known.title} ({name})",
                data=partial(_example_bytes, known.id),
                file_name=name,
                key=f"load.example.{known.id}",
                on_click="ignore",
                width="stretch",
            )


def _example_bytes(format_id: str) -> bytes:
    from engine import example_file

    return example_file(format_id)[1]


def _reading() -> tuple[str | None, str | None, str | None]:
    """Ask how to read a file that was read wrongly by itself."""
    delimiters = {
        mark("Automatic"): None,
        mark("Comma"): ",",
        mark("Semicolon"): ";",
        mark("Tab"): "\t",
        mark("Vertical bar"): "|",
    }
    with st.popover(tr("Reading options"), icon=":material/tune:", key="load.reading"):
        st.caption(tr("Leave these alone unless the preview looks wrong."))
        encoding = st.text_input(
            tr("Character encoding"), key="load.encoding", placeholder=tr("automatic, or utf-8, cp1252 …")
        )
        delimiter = st.selectbox(
            tr("Columns are separated by"), list(delimiters), format_func=translator(), key="load.delimiter"
        )
        sheet = st.text_input(tr("Excel sheet"), key="load.sheet", placeholder=tr("the first one"))
    return (encoding or "").strip() or None, delimiters[delimiter], (sheet or "").strip() or None


def preview(workspace: engine.Workspace, chosen: Chosen) -> engine.FilePreview | None:
    """Return the preview, read once a file and options, or draw why it cannot be read."""
    kept = st.session_state.get(PREVIEW)
    if kept is not None and kept[0] == chosen.digest:
        preview: engine.FilePreview = kept[1]
        return preview
    st.session_state.pop(PREVIEW, None)
    try:
        with st.spinner(tr("Reading the file …")):
            result = workspace.corpora.preview(chosen.source, chosen.filename, chosen.options())
    except engine.UserError as error:
        states.failed(
            tr("This file cannot be read"),
            f"{str(error).rstrip('.')}.",
            tr("Nothing was stored. Correct it and choose it again."),
        )
        return None
    st.session_state[PREVIEW] = (chosen.digest, result)
    return result


def import_chosen(
    workspace: engine.Workspace,
    chosen: Chosen,
    mapping: ColumnMapping,
    unit: str,
    cap: int,
    cap_public: bool,
    holdout: float,
) -> bool:
    """Import in one engine call, then empty the uploader; say beneath the button why it was refused.

    Returns:
        Whether the corpus exists now.
    """
    name = str(st.session_state.get(f"load.name.{chosen.digest}") or chosen.stem)
    try:
        with st.spinner(tr("Reading, checking and splitting the file …")):
            importing = partial(
                workspace.corpora.import_file,
                chosen.source,
                chosen.filename,
                mapping,
                name=name,
                unit=unit,
                cap=cap,
                cap_from_file=cap_public,
                holdout=holdout,
                options=chosen.options(),
            )
            corpus = once.act(f"load.{chosen.digest}", importing)
    except engine.UserError as error:
        states.failed(
            tr("Nothing was imported"), str(error), tr("Your choices are kept. Correct it, then import again.")
        )
        return False
    st.session_state["_ui.load.generation"] = st.session_state.get("_ui.load.generation", 0) + 1
    st.session_state.pop(PREVIEW, None)
    st.session_state.pop("load.view", None)
    st.session_state[NEXT_VIEW] = mark("What was loaded")
    choose_corpus(corpus.id)
    states.notice(tr("{name} was imported: {records}.", name=corpus.name, records=count_of(corpus.records, "record")))
    return True
