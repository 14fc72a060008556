"""Run a registered method again inside a study, on training records of the study's choice.

A `dp` method gets its mechanisms over those records with outputs kept in memory, so its noise is drawn anew each
time; nothing is spent, since nothing leaves: the study's own ledger line covers that records were read.

Privacy posture: what comes out is an internal experiment, never a release. Texts are handed to the study; what a
method keeps on the way lies in the folder given and is the study's to delete.
"""

from __future__ import annotations

import copy
import dataclasses
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from engine.at_rest import files
from engine.dp.noise.noiseless import NoiselessMechanisms
from engine.dp.noise.outputs import MemoryOutputs
from engine.dp.noise.private import Mechanisms, PrivateData
from engine.errors import InternalError, UserError
from engine.json_types import JSONObject
from engine.methods import get_method
from engine.methods.base import Context, Facts, MethodSpec, Step, parse_parameters
from engine.methods.readable import run as run_readable
from engine.models.cancel import Cancelled
from engine.store.disk.folder import file_errors, remove_tree

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from engine.dp.guarantee import Guarantee
    from engine.models.contracts import Embedder, Generator

_CHUNK = 64  # texts embedded between two looks at a cancel
COLUMNS = ["record_id", "text", "label", "lineage"]
TUNED = "tuned"  # below a run's scratch folder: the tuned model of methods that fit one


@dataclasses.dataclass(frozen=True)
class Terms:
    """What every run of an experiment shares: public quantities and the guarantee reserved for them.

    Runs on X and on X ∖ U share N and the noise, as the zero-out adjacency has it; each by itself would be calibrated
    for its own size, and the pair would differ in more than U.
    """

    facts: Facts
    guarantee: Guarantee


def terms_of(context: Context, method_id: str, values: JSONObject, records: pd.DataFrame) -> Terms:
    """Return the terms of runs on `records`; exact accounting may take seconds.

    Raises:
        UserError: the method or a parameter does not exist, or its claim cannot be made for so few records.
    """
    method = get_method(method_id)
    cap = context.facts.cap if context.facts is not None else 1
    facts = facts_of(records, context.unit, cap)
    return Terms(facts, method.guarantee(parse_parameters(method.spec, values), facts))


def facts_of(records: pd.DataFrame, unit: str, cap: int = 1) -> Facts:
    """Return the quantities of these records that a claim or plan may use."""
    texts = [str(text) for text in records["text"]]
    labels = {str(label) for label in records["label"] if isinstance(label, str) and label}
    known = records["source_id"].notna() if unit == "source" else pd.Series(False, index=records.index)
    units = int(records["source_id"][known].nunique() + (~known).sum())
    mean = sum(map(len, texts)) / max(1, len(texts))
    return Facts(len(texts), units, unit, cap if unit == "source" else 1, len(labels), mean)


def rerun(
    context: Context,
    method_id: str,
    values: JSONObject,
    records: pd.DataFrame,
    spans: pd.DataFrame,
    count: int,
    seed: int,
    *,
    terms: Terms | None = None,
    embed: Callable[[list[str]], NDArray[np.float32]] | None = None,
    scratch: Path | None = None,
    progress: Callable[[str, int, int], None] = lambda stage, done, total: None,
    noiseless: bool = False,
    watch: Callable[[Step], None] = lambda step: None,
) -> pd.DataFrame:
    """Return what a method makes of these training records.

    Args:
        context: the study's own run context: models, unit, labels, keys, whether it was cancelled.
        method_id, values: any registered method and its parameters by name.
        records: record_id, text, source_id, label; what the method is run on. spans: accepted spans of corpus records.
        count: outputs wanted. seed: fixes everything except mechanism noise; also which surrogates are chosen.
        terms: facts and guarantee, default those of `records`; give those of X to runs on X and on X ∖ U alike.
        embed: embeds private texts, default the study's embedder; `remembered` spares embedding them again.
        scratch: an empty folder for what the method keeps on the way, such as the model it tuned, or None.
        progress: told stage, done and in all after each step; may raise to stop.
        noiseless: whether votes, counts and choices come without noise (ε = ∞): an internal reference, never a claim.
        watch: shown each step, with the population of a round where it has one.

    Returns:
        Columns record_id (`s-000001` and on), text, label, lineage (source record id, where there is one).

    Raises:
        UserError: the method does not exist, a parameter breaks a rule or what it needs is missing.
        Cancelled: the study was cancelled before the run was complete.
    """
    method = get_method(method_id)
    _check_needs(method.spec, context)
    terms = terms or terms_of(context, method_id, values, records)
    private = method.spec.kind == "dp"
    records = records[["record_id", "text", "source_id", "label"]].reset_index(drop=True)
    own = spans[spans["record_id"].isin(set(records["record_id"]))].reset_index(drop=True) if len(spans) else spans
    run = dataclasses.replace(
        context,
        records=records.iloc[:0] if private else records,
        spans=own.iloc[:0] if private else own,
        count=count,
        parameters=parse_parameters(method.spec, values),
        seed=seed,
        state=None,
        surrogate_key=_key(context, "surrogate", seed),
        batch_size=getattr(context.generator, "texts_a_call", context.batch_size),
        mechanisms=_mechanisms(context, terms, records if private else None, embed, seed, noiseless),
        facts=terms.facts,
        guarantee=terms.guarantee,
        scratch=scratch,
        progress=progress,
    )
    made: list[tuple[str, str | None, str | None]] = []
    for step in run_readable(method, run):
        made += [(one.text, one.label, one.lineage) for one in step.records]
        watch(step)
        progress(step.stage, step.done, step.total)
        if context.cancelled():
            raise Cancelled("the study was cancelled")
    if context.cancelled():
        raise Cancelled("the study was cancelled")
    rows = [(f"s-{i + 1:06d}", *one) for i, one in enumerate(made)]
    return pd.DataFrame(rows, columns=COLUMNS)


def remembered(
    embedder: Embedder, cancelled: Callable[[], bool] = lambda: False
) -> Callable[[list[str]], NDArray[np.float32]]:
    """Return a function that embeds each text on its own, and no text twice while it is held; it can be cancelled."""
    import numpy as np

    from engine.models.builtin.embedder import embed_apart

    held: dict[str, NDArray[np.float32]] = {}

    def embed(texts: list[str]) -> NDArray[np.float32]:
        new = list(dict.fromkeys(text for text in texts if text not in held))
        for at in range(0, len(new), _CHUNK):
            if cancelled():
                raise Cancelled("the study was cancelled")
            chunk = new[at : at + _CHUNK]
            held.update(zip(chunk, embed_apart(embedder, chunk), strict=True))
        return np.stack([held[text] for text in texts]) if texts else embedder.embed([])

    return embed


def tuned_generator(context: Context, scratch: Path, start: str = "") -> Generator:
    """Return the model that a run left in its scratch folder.

    Args:
        start: folder of the model that was tuned, empty where it is the context's own.

    Raises:
        UserError: the method tunes no model.
    """
    from engine.models.builtin.language_model import BuiltinGenerator
    from engine.models.folder.transformers_local import TransformersGenerator

    folder = scratch / TUNED
    if not (folder / "model.safetensors").is_file():
        raise UserError("method: it leaves no tuned model; choose finetune, goldfish or dp-finetune")
    made: Generator
    if (folder / "tokenizer_config.json").is_file():  # transformers write one beside the tokenizer, the built-in none
        sealed = files.encrypted(folder)
        made = _unsealed(context, folder, start) if sealed else TransformersGenerator(folder, "tuned", prompts="plain")
    else:
        made = BuiltinGenerator(folder)
    watch: Any = getattr(made, "watch", None)
    if watch is not None:
        watch(context.cancelled)
    return made


def _unsealed(context: Context, folder: Path, start: str) -> Generator:
    """Return a tuned model whose files are encrypted: the one it began as, with weights decrypted in memory alone.

    The library opens plain files only, and weights fitted to private text are not written plain for it.
    """
    from safetensors.torch import load

    from engine.models.folder.transformers_local import TransformersGenerator

    first = TransformersGenerator(Path(start), "tuned", prompts="plain") if start else context.generator
    if not isinstance(first, TransformersGenerator):
        raise InternalError("a tuned folder model did not begin as one")
    model = copy.deepcopy(first.model)
    model.load_state_dict(load(files.read_bytes(folder / "model.safetensors")))
    return first.with_model(model, "tuned")


def empty_folder(scratch: Path | None, name: str) -> Path | None:
    """Return an empty folder for one run below a study's own, owner-only: weights in training are private text."""
    if scratch is None:
        return None
    folder = scratch / name
    with file_errors():
        if folder.exists():
            remove_tree(folder)
        folder.mkdir(mode=0o700, parents=True)
    return folder


def _check_needs(spec: MethodSpec, context: Context) -> None:
    for name in ("generator", "operators", "embedder", "detector"):
        if name in spec.needs and getattr(context, name) is None:
            raise UserError(f"method: {spec.id} needs what this study was started without: {name}")
    if "spans" in spec.needs and context.spans.empty:
        raise UserError(f"method: {spec.id} needs accepted spans; run detection on this corpus first")


def _mechanisms(
    context: Context,
    terms: Terms,
    records: pd.DataFrame | None,
    embed: Callable[[list[str]], NDArray[np.float32]] | None,
    seed: int,
    noiseless: bool,
) -> Mechanisms:
    """Return mechanisms of one run; over `records`, or over nothing for methods that are not `dp`."""
    facts, data = terms.facts, None
    if records is not None:
        if embed is None and context.embedder is not None:
            embed = remembered(context.embedder, context.cancelled)
        data = PrivateData(
            records, unit=facts.unit, cap=facts.cap, embed=embed, order_key=_key(context, "order", seed),
            units=facts.units,
        )  # fmt: skip
    adjacency = terms.guarantee.adjacency or "zero-out"
    kind = NoiselessMechanisms if noiseless else Mechanisms
    return kind(data, MemoryOutputs(), unit=facts.unit, cap=facts.cap, adjacency=adjacency)


def _key(context: Context, use: str, seed: int) -> bytes:
    """Return a secret of one run: repeated runs differ in it as repeated releases of different corpora would."""
    secret = hashlib.sha256(b"rerun\0" + context.surrogate_key).digest()
    return hashlib.blake2b(f"{use}\0{seed}".encode(), key=secret, digest_size=32).digest()
