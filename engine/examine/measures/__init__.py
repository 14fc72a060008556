"""What each finding measures, in words: one place for pages, report and tests.

Light: the web process imports this.
"""

from __future__ import annotations

from engine.examine.measures.canaries import CANARIES
from engine.examine.measures.membership import MEMBERSHIP
from engine.examine.measures.people import PEOPLE
from engine.examine.measures.strict import STRICT
from engine.examine.measures.text import TEXT
from engine.examine.measures.wording import LOWER, REAL, Measure, Scale

__all__ = ["MEASURES", "REFERENCES", "Measure", "Scale", "show"]

# How to add measures: a module of their topic beside this one with a tuple of `Measure`, imported here and in `_MORE`.
_MORE: tuple[Measure, ...] = (*MEMBERSHIP, *CANARIES, *TEXT, *PEOPLE)

_ZHAO = "Zhao and Field 2025 (Controlled generation for private synthetic text), section 3.4"

_PRIVACY = (
    Measure(
        "pipp", "Records with a private entity",
        "share of synthetic records that contain at least one private entity of the reference (PIPP)",
        LOWER, "privacy", "share",
        "How often a reader meets a name, number, place or date that also stands in the private text.",
        "Common words that are also someone's detail count too: compare with the holdout, which nobody saw.",
        f"{_ZHAO}, equation 6, fine-tuning setting",
    ),
    Measure(
        "pipp_direct", "Records with a direct identifier",
        "share of synthetic records that contain at least one direct identifier of the reference",
        LOWER, "privacy", "share",
        "As above, for identifiers that point to one person by themselves.",
        "Identifiers that nobody marked are not looked for.",
        f"{_ZHAO}, equation 6, direct identifiers",
    ),
    Measure(
        "pipp_context", "Records with an entity of their own source",
        "share of synthetic records that contain at least one private entity of the record they stem from",
        LOWER, "privacy", "share",
        "Whether a rewritten record still carries its own source's details.",
        "Only for methods in which each record stems from one source record.",
        f"{_ZHAO}, equation 6, in-context setting",
    ),
    Measure(
        "elp", "Private entities that leaked",
        "share of the reference's distinct private entities that stand in any synthetic record (ELP, corpus edition)",
        LOWER, "privacy", "share",
        "How much of the private detail appears anywhere in the synthetic text.",
        "Grows with the amount of synthetic text; entities that are common words leak by chance.",
        f"{_ZHAO}, entity leakage percentage, fine-tuning setting",
    ),
    Measure(
        "elp_direct", "Direct identifiers that leaked",
        "share of the reference's distinct direct identifiers that stand in any synthetic record",
        LOWER, "privacy", "share",
        "As above, for identifiers that point to one person by themselves.",
        "Identifiers that nobody marked are not looked for.",
        f"{_ZHAO}, entity leakage percentage, direct identifiers",
    ),
    Measure(
        "elp_rare", "Rare entities that leaked",
        "share of the private entities held by a single unit of the reference that stand in any synthetic record",
        LOWER, "privacy", "share",
        "Details that only one person's text has are the ones that single a person out.",
        "A detail that is rare here can be common outside.",
        f"{_ZHAO}, entity leakage percentage, entities of one unit",
    ),
    Measure(
        "elp_context", "Entities of its own source in a record",
        "mean share of the source record's private entities that its synthetic record contains (ELP, context edition)",
        LOWER, "privacy", "share",
        "How much of a source record's detail its own rewriting keeps.",
        "Only for methods in which each record stems from one source record.",
        f"{_ZHAO}, entity leakage percentage, in-context setting",
    ),
    Measure(
        "pii_rate", "Identifiers a detector finds",
        "identifying spans that the detector finds, a record",
        LOWER, "privacy", "number",
        "How much identifying-looking text there is, real or made up.",
        "Made-up names count as well: this is not a count of leaks.",
        "count of the corpus's own detector",
    ),
    Measure(
        "pii_share", "Records with any identifier",
        "share of records in which the detector finds at least one identifying span",
        LOWER, "privacy", "share",
        "How many records hold identifying-looking text at all, real or made up.",
        "Made-up names count as well: this is not a count of leaks. What the detector misses is not counted.",
        "Ma and Rajtmajer, Private Seeds, Public LLMs (RPSG), figure 3; here with the corpus's own detector",
    ),
    Measure(
        "label_entities", "Labels with a private entity",
        "share of the distinct labels of the synthetic records that contain a private entity of the reference",
        LOWER, "privacy", "share",
        "Labels leave with the text; one that was typed by hand can name a person.",
        "A label that is a common word can be an accepted entity by chance.",
        f"{_ZHAO}, private information as personal identifier; here over labels",
    ),
    Measure(
        "label_direct", "Labels with a direct identifier",
        "share of the distinct labels of the synthetic records that contain a direct identifier of the reference",
        LOWER, "privacy", "share",
        "No label may hold a name, a number or an address of a person.",
        "Identifiers that nobody marked in a text are not looked for.",
        f"{_ZHAO}, private information as personal identifier; here over labels, direct identifiers",
    ),
    Measure(
        "readable", "Readable records",
        "share of records that public rules for readable text let pass: repetition, unknown words, header fields",
        REAL, "privacy", "share",
        "Text that says nothing repeats nothing: where few records are readable, low leaks prove little.",
        "Readable does not mean true or coherent. Unknown words are judged in English text alone.",
        "fixed rules, set on public text of which at least 97% pass",
    ),
    Measure(
        "original_records", "Records that are an original",
        "share of synthetic records that equal a reference record once case, marks and spelling are folded",
        LOWER, "privacy", "share",
        "A record that is an original does not leave, under no policy, unless its method carries a proof.",
        "Short texts (\"No complaints.\") can be equal by chance: compare with the holdout.",
        "exact match of folded texts",
    ),
    Measure(
        "verbatim_8gram", "Records with an eight-word copy",
        "share of synthetic records with at least eight words in a row that stand in the reference",
        LOWER, "privacy", "share",
        "How many records repeat a stretch of the private text word for word.",
        "Stock phrases are copied by everyone: compare with the holdout and with real records (baseline).",
        "exact match of word windows; cf. Lee et al. 2022 (Deduplicating training data), section 4",
    ),
    Measure(
        "nearest_similarity", "Closeness to the nearest record",
        "mean over synthetic records of the highest cosine similarity to a reference record, embeddings",
        LOWER, "privacy", "cosine",
        "Whether synthetic records lie closer to the records used than to records nobody used.",
        "A view for finding faults, not a measure of privacy: closeness is expected, only an excess speaks.",
        "Yao et al. 2025 (The DCR delusion, arXiv 2505.01524)",
    ),
)  # fmt: skip

_EXCESS_OF = (*(measure.name for measure in STRICT), "pipp", "elp", "verbatim_8gram", "nearest_similarity")


def _excess(measure: Measure) -> Measure:
    return Measure(
        f"{measure.name}_excess", f"{measure.title}: more than chance",
        f"{measure.measure}; training part minus holdout, at equal numbers of reference records",
        LOWER, "privacy", measure.scale,
        "Zero means: the text is no closer to the records used than to records nobody used.",
        "The training part is cut to the holdout's size, so a copy of a record outside the cut is not seen here.",
        measure.source,
    )  # fmt: skip


_UTILITY = (
    Measure(
        "length_distance", "Length of texts",
        "1-Wasserstein distance of word counts, as a share of the real mean length",
        "lower is better", "utility", "share",
        "By how much of the mean length texts would have to grow or shrink.",
        "Says nothing about content.",
        "Vallender 1974",
    ),
    Measure(
        "js_1gram", "Words used", "Jensen-Shannon divergence of word frequencies, bits (0 to 1)",
        "lower is better", "utility", "divergence",
        "Whether the same words are used about as often.",
        "Word order plays no part.",
        "Lin 1991, equation 3.6, base 2",
    ),
    Measure(
        "js_2gram", "Word pairs used", "Jensen-Shannon divergence of word-pair frequencies, bits (0 to 1)",
        "lower is better", "utility", "divergence",
        "Whether the same pairs of words are used about as often.",
        "Biased upwards in small samples: only the distance to real against real speaks.",
        "Lin 1991, equation 3.6, base 2",
    ),
    Measure(
        "js_3gram", "Word triples used", "Jensen-Shannon divergence of word-triple frequencies, bits (0 to 1)",
        "lower is better", "utility", "divergence",
        "Whether the same phrases are used about as often.",
        "Biased upwards in small samples: only the distance to real against real speaks.",
        "Lin 1991, equation 3.6, base 2",
    ),
    Measure(
        "embedding_similarity", "Closeness in meaning",
        "mean cosine similarity of one synthetic and one real text, embeddings",
        REAL, "utility", "cosine",
        "Whether the texts are about the same things.",
        "Above real against real means texts that huddle around the average.",
        "mean of pairwise cosines; Reimers and Gurevych 2019 for the embeddings",
    ),
    Measure(
        "mauve", "Mixture of topics and styles", "MAUVE of embeddings (0 to 1)",
        "higher is better", "utility", "score",
        "Whether clusters of similar texts have about the same sizes on both sides.",
        "Moves with the number of texts and clusters: compare only with values at the same n.",
        "Pillutla et al. 2021, section 3",
    ),
    Measure(
        "self_bleu", "Repetition between texts", "mean BLEU-4 of a text with all others as references (0 to 1)",
        REAL, "utility", "score",
        "Higher than real: the texts repeat each other.",
        "Depends on the number and length of texts, which are equal on both sides here.",
        "Zhu et al. 2018 (Texygen), section 3.2.3",
    ),
    Measure(
        "distinct_2", "Variety of word pairs", "different word pairs / all word pairs, at equal numbers of words",
        REAL, "utility", "share",
        "Lower than real: fewer different phrases.",
        "Random words are the most varied of all: higher is not better by itself.",
        "Li et al. 2016, section 5.2",
    ),
)  # fmt: skip

_BY_NAME = {m.name: m for m in (*STRICT, *_PRIVACY, *_UTILITY, *_MORE)}
MEASURES: dict[str, Measure] = {**_BY_NAME, **{m.name: m for m in map(_excess, (_BY_NAME[n] for n in _EXCESS_OF))}}

REFERENCES: dict[str, str] = {
    "train": "training part",
    "holdout": "holdout (used by nobody)",
    "baseline": "real records nobody used",
    "real": "real against real",
    "unrelated": "unrelated text",
    "none": "synthetic text",
}


def show(name: str, value: float) -> str:
    """Return a finding's value as people read it: per cent for shares, else two or three figures."""
    if value != value:
        return "not estimable"
    measure = MEASURES.get(name)
    if measure is not None and measure.scale == "share":
        if 0 < abs(value) < 0.001:
            return "under 0.1%" if value > 0 else "above −0.1%"
        return f"{100 * value:.1f}%".replace("-", "−")
    return f"{value:.3g}".replace("-", "−")
