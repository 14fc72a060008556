"""What findings about people measure, in words: their words and style, their sets of records, their details.

Light: the web process imports this.
"""

from __future__ import annotations

from engine.examine.measures.membership import pair
from engine.examine.measures.wording import LOWER, Measure

_LIMITED = "Ma and Rajtmajer (RPSG), limitations, number 2 (re-profiling from rare combinations)"
_LINKAGE = f"{_LIMITED}; Elliot, Manning and Ford 2002, section 3 (minimal sample uniques)"
_INFERENCE = (
    "Giomi et al. 2023 (A unified framework for quantifying privacy risk in synthetic data), inference risk and its "
    "control; "
    "Yeom et al. 2018, section 5 (attribute inference)"
)

PEOPLE: tuple[Measure, ...] = (
    *pair(
        "word_probe", "A person's words in the release",
        "Whether words that few others use tell, by standing in the release, that a person's text was used.",
        "Stomakhin 2025 (LBF framework), section 3.8, probe A_w and equation 3",
    ),
    *pair(
        "stylometric", "A person's style in the release",
        "Whether the release is written more like the people whose text was used than like others.",
        "Stomakhin 2025 (LBF framework), section 3.8, style score; Koppel and Winter 2014, section 4 (impostors)",
    ),
    *pair(
        "set_membership", "The set of a person's records",
        "Whether all records of a person together stand out where no single record has to.",
        "Kandpal et al. 2024 (User inference attacks), section 3; Song and Shmatikov 2019, section 3",
    ),
    *pair(
        "linked_details", "Linked details of a person",
        "Whether people whose text was used are pointed to by more combinations of details in one synthetic record.",
        _LINKAGE,
    ),
    Measure(
        "linkage", "People singled out by combined details",
        "share of private units whose 2 or 3 details, together held by no other unit, stand in one synthetic record",
        LOWER, "privacy", "share",
        "How often details that are common one by one, but together point to one person, are released together.",
        "Only accepted quasi-identifying spans count, and where seeds are known the seeds and holdout records; details "
        "that meet by chance count too: compare with the holdout.",
        _LINKAGE,
    ),
    Measure(
        "linkage_excess", "People singled out: more than chance",
        "share of training units less share of holdout units singled out; uniqueness judged among both together",
        LOWER, "privacy", "share",
        "Zero means: combinations of people used are released no more often than those of people nobody used.",
        "A person singled out by chance is singled out all the same.",
        _LINKAGE,
    ),
    Measure(
        "linkage_spread", "People singled out by several records",
        "share of private units whose combined details stand in the synthetic records of one source record taken "
        "together, but in none of them alone",
        LOWER, "privacy", "share",
        "Whether several records made from one source give away together what none of them does alone.",
        "Only for methods that make several records from one source, and for an attacker who finds them out.",
        _LINKAGE,
    ),
    Measure(
        "attribute_inference", "Label guessed from similar records",
        "share of private records whose label is guessed right from the nearest synthetic records",
        LOWER, "privacy", "share",
        "Whether someone who knows the rest of a record learns its label from the release.",
        "What holds for everyone can be learnt about anyone: only an excess over unused records is a leak.",
        _INFERENCE,
    ),
    Measure(
        "attribute_inference_excess", "Label guessed: more than for unused records",
        "share of labels guessed right for training records less the same for holdout records",
        LOWER, "privacy", "share",
        "Zero means: labels of records used are guessed no better than those of records nobody used.",
        "Only one attack: nearest synthetic records by their words.",
        _INFERENCE,
    ),
    Measure(
        "detail_inference", "Details guessed from similar records",
        "share of private details (age band, place and other marked types) guessed right from the nearest synthetic "
        "records, the detail itself taken out of what the attacker knows",
        LOWER, "privacy", "share",
        "Whether someone who knows the rest of a record learns a missing detail from the release.",
        "Only details that were marked; each record counts once a type, with the first detail of that type.",
        _INFERENCE,
    ),
    Measure(
        "detail_inference_excess", "Details guessed: more than for unused records",
        "share of details guessed right for training records less the same for holdout records",
        LOWER, "privacy", "share",
        "Zero means: details of records used are guessed no better than those of records nobody used.",
        "Only one attack: nearest synthetic records by their words.",
        _INFERENCE,
    ),
)  # fmt: skip
