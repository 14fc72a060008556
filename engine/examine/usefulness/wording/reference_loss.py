"""How surprising the text is to a model that has not seen the corpus' kind, beside how surprising the real text is.

The model counts three tokens in a row in the shipped sample corpora, without the one that is most like the corpus. The
built-in language model is no such judge: it writes the outputs of several methods itself and was trained on text made
by the grammars of those samples, so what it writes would surprise it least whatever it is worth. Counts have written
nothing, and every side is as foreign to them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.examine.findings.findings import Reference
from engine.examine.findings.make import finding, missing
from engine.examine.findings.part import Part
from engine.examine.prepare import Prepared
from engine.examine.stats import intervals
from engine.examine.usefulness.sides import equal_sides
from engine.examine.usefulness.unrelated import shipped_samples
from engine.examine.usefulness.wording.features import shipped_tokenizer
from engine.json_types import JSON
from engine.models.builtin.ngram_model import KneserNey

NAME = "reference_loss"
LARGEST = 300
FEWEST = 10  # texts a side
FLOOR = 1e-3  # share of a uniform distribution in every probability, so that none is zero
SIDES: tuple[Reference, ...] = ("train", "real")
Documents = list[NDArray[np.uint64]]


def examine_reference_loss(prepared: Prepared) -> Part:
    """Return the bits a word of synthetic and of real text under counts of unlike public text.

    Source: Chen and Goodman 1998, section 2.8 (the model); perplexity of generated text: Ma and Rajtmajer (RPSG),
        section 4.3.1.
    """
    samples = shipped_samples(prepared)[1:]
    if not samples:
        return Part([missing(NAME, reference, "no sample corpus of another kind is shipped") for reference in SIDES])
    prepared.report("surprise under public text", 0, 3)
    sides = equal_sides(prepared, LARGEST, False, None)
    size = len(sides.target)
    if size < FEWEST:
        why = f"{size} texts a side are too few; at least {FEWEST} are needed"
        return Part([missing(NAME, reference, why) for reference in SIDES])
    public = encoded([str(text) for side in samples for text in side.texts])
    model = model_of(public)
    settings: dict[str, JSON] = {
        "texts_a_side": size,
        "counted_in": [str(side.record_ids[0]).partition(":")[0] for side in samples],
        "tokens_counted": sum(map(len, public)),
    }
    part = Part()
    for done, (reference, side) in enumerate(zip(SIDES, (sides.synthetic, sides.real), strict=True), 1):
        prepared.report("surprise under public text", done, 3)
        found = bits_a_word(model, [str(text) for text in side.texts], side.words.counts)
        known = ~np.isnan(found)
        units = side.units[known] if prepared.grouped else None
        more: dict[str, JSON] = {"own_sources_left_out": sides.apart} if reference == "train" else {}
        part.findings.append(
            finding(NAME, reference, intervals.mean(found[known], prepared.seed, units), **settings, **more)
        )
    return part


def encoded(texts: list[str]) -> Documents:
    """Return the token numbers of each text, an end behind the last."""
    tokenizer = shipped_tokenizer()
    end = tokenizer.get_vocab_size()
    return [np.array([*found.ids, end], np.uint64) for found in tokenizer.encode_batch(texts, add_special_tokens=False)]


def model_of(documents: Documents) -> KneserNey:
    """Return the counts of documents as a model of the next token."""
    end = shipped_tokenizer().get_vocab_size()
    return KneserNey(documents, end + 1, end + 1)


def bits_a_word(model: KneserNey, texts: list[str], words: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return each text's bits divided by its number of words, float (n,); NaN for a text without words."""
    documents = encoded(texts)
    likely = model.probabilities(documents) if documents else np.empty(0)
    bits = -np.log2((1.0 - FLOOR) * likely + FLOOR / model.vocabulary)
    of_text = np.repeat(np.arange(len(documents)), [len(document) for document in documents])
    total = np.bincount(of_text, weights=bits, minlength=len(documents))
    return np.where(words > 0, total / np.maximum(words, 1), np.nan)
