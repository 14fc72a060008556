"""Which embedder examinations use: a setting of the workspace, or a wish for one; settled once an examination.

What was settled stands with the job's arguments, so that every worker that shares it, and one that goes on with it,
measures by the same one whatever the setting says by then. Mechanisms do not ask here: their guarantees name the
built-in embedder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import UserError

if TYPE_CHECKING:
    from engine.json_types import JSON
    from engine.store.store import Store

KEY = "measures.embedder"
AUTO, ENGLISH, NGRAMS = OFFERED = "auto", "english", "ngrams"
EMBEDDER, WHY = "embedder", "embedder_since"  # of a job's arguments
ENOUGH_ENGLISH, NOT_ENGLISH = 0.5, "most of the text is not English"
_FILES = ("config.json", "modules.json", "model.safetensors")
_MODULES = ("Transformer", "Pooling", "Normalize")  # what holds no code or weights of its own


def checked(choice: str) -> str:
    """Return a choice as it is kept: `auto`, `english`, `ngrams`, or the path of a folder that holds what it should.

    Nothing of the folder is loaded.

    Raises:
        UserError: it is no such folder.
    """
    choice = choice.strip()
    if choice in OFFERED:
        return choice
    folder = Path(choice).expanduser() if choice else Path()
    if not choice or not folder.is_dir():
        raise UserError("embedder: must be auto, english, ngrams or the folder of a sentence model on this machine")
    lacking = [name for name in _FILES if not (folder / name).is_file()]
    if lacking:
        raise UserError(f"embedder: the folder {folder.name!r} lacks {', '.join(lacking)}; name a whole sentence model")
    try:
        kinds = [str(one["type"]) for one in json.loads((folder / "modules.json").read_text("utf-8"))]
    except (OSError, ValueError, TypeError, KeyError):
        raise UserError(f"embedder: modules.json in {folder.name!r} cannot be read; fetch the folder again") from None
    for kind in kinds:
        if not kind.startswith("sentence_transformers.") or kind.rpartition(".")[2] not in _MODULES:
            raise UserError(f"embedder: {folder.name!r} has a part {kind[:80]!r}; only {', '.join(_MODULES)} are read")
    return str(folder.resolve())


def settled(store: Store, corpus_id: str, arguments: Mapping[str, JSON]) -> dict[str, str]:
    """Return what an examination is measured by, `english`, `ngrams` or a folder, and why where the language says so.

    Args:
        store: the workspace. corpus_id: what is examined. arguments: of the job, with what was asked for or settled.
    """
    asked = str(arguments.get(EMBEDDER) or store.settings.get(KEY) or AUTO)
    if asked != AUTO:
        why = arguments.get(WHY)
        return {EMBEDDER: asked, **({WHY: str(why)} if why else {})}
    if store.corpora.statistics(corpus_id).english_share >= ENOUGH_ENGLISH:
        return {EMBEDDER: ENGLISH}
    return {EMBEDDER: NGRAMS, WHY: NOT_ENGLISH}
