"""What membership findings measure, in words.

Light: the web process imports this.
"""

from __future__ import annotations

from engine.examine.measures.wording import LOWER, Measure

CHANCE = "0.5 is chance"
_CAVEAT = (
    "A weak attack proves no safety: a stronger one may come. Greyed where the two sides differ by themselves "
    "(blind baseline)."
)


def pair(attack: str, title: str, means: str, source: str, caveat: str = _CAVEAT) -> tuple[Measure, Measure]:
    """Return the measures of a membership attack: its area under the ROC curve, and its true positives at 1%.

    Args:
        attack: name of the finding. title: a few plain words. means: what a reader may take from it.
        source: author, year, section of the attack. caveat: what it does not show.
    """
    return (
        Measure(
            attack, title,
            f"area under the ROC curve of training records against holdout records ({CHANCE}, 1 always recognised)",
            LOWER, "privacy", "score", means, caveat, source,
        ),
        Measure(
            f"{attack}_tpr01", f"{title}: recognised at 1% false alarms",
            "share of training records recognised where 1% of holdout records are taken for them (1% is chance)",
            LOWER, "privacy", "share",
            "How many people an attacker names who accepts one false alarm in a hundred.",
            caveat,
            f"{source}; Carlini et al. 2022, section III, for the rate",
        ),
    )  # fmt: skip


_MODEL = "of a small language model trained on the synthetic text alone"
_CLASSIFIER = "of a classifier trained on the synthetic text alone"
_LIKELY = f"Whether records that were used look likelier than unused ones in the eyes {_MODEL}."

# attack, title, means, source
MODEL_ATTACKS: tuple[tuple[str, str, str, str], ...] = (
    ("mia_ppl", "Perplexity (PPL)", _LIKELY,
     "Yeom et al. 2018, section 3.2; Carlini et al. 2021 (Extracting training data), section 4; RPSG, section 4.3.2"),
    ("mia_refer", "Perplexity against a public model (REFER)",
     f"{_LIKELY} Text that any model finds likely is discounted by a model of public text.",
     "Carlini et al. 2021, section 5.2 (other model); RPSG, section 4.3.2"),
    ("mia_lira", "Likelihood ratio (LIRA)",
     f"{_LIKELY} Each record's level is taken from models trained on half of the synthetic text.",
     "Carlini et al. 2022, section V (offline, pooled variance)"),
    ("mia_zlib", "Perplexity against compressed size (zlib)",
     f"{_LIKELY} Text that repeats itself is discounted by its compressed size.",
     "Carlini et al. 2021, section 5.2 (zlib)"),
    ("mia_mink", "Least likely tokens (Min-K %)",
     f"Whether the least likely fifth of a used record's words is less surprising, in the eyes {_MODEL}.",
     "Shi et al. 2024 (Detecting pretraining data), section 3"),
    ("mia_minkpp", "Least likely tokens, standardised (Min-K %++)",
     "As Min-K %, each token against all tokens that could have stood there.",
     "Zhang et al. 2024 (Min-K%++), section 4"),
    ("mia_recall", "Likelihood behind a prefix (ReCaLL)",
     f"Whether unused records in front change the likelihood of used and unused records differently, {_MODEL}.",
     "Xie et al. 2024 (ReCaLL), section 3"),
    ("mia_rmia", "Robust likelihood ratio (RMIA)",
     f"{_LIKELY} Each record is compared with records of the population, and with models of half of the text.",
     "Zarifzadeh et al. 2024, section 3 (offline)"),
    ("mia_entropy", "Classifier's certainty (entropy)",
     f"Whether used records leave less doubt {_CLASSIFIER}.",
     "Salem et al. 2019, section 5; Song and Mittal 2021, section 3; DPGA-TextSyn, table 5"),
    ("mia_mentropy", "Classifier's certainty in the label (modified entropy)",
     f"Whether used records leave less doubt about their own label, in the eyes {_CLASSIFIER}.",
     "Song and Mittal 2021, equation 8"),
    ("mia_confidence", "Classifier's confidence in the label",
     f"Whether used records' own labels get a higher probability, in the eyes {_CLASSIFIER}.",
     "Salem et al. 2019, section 5; Song and Mittal 2021, section 3; DPGA-TextSyn, table 5"),
)  # fmt: skip

MEMBERSHIP: tuple[Measure, ...] = (
    Measure(
        "blind", "Words alone (no model)",
        f"area under the ROC curve of training against holdout records by their words, without any model ({CHANCE})",
        LOWER, "privacy", "score",
        "Whether the two sides differ by themselves. If so, attacks that tell them apart prove nothing.",
        "A difference that words alone do not show stays unseen.",
        "Das, Zhang and Tramèr 2024 (Blind baselines beat membership inference attacks), section 3",
    ),
    *(measure for row in MODEL_ATTACKS for measure in pair(*row)),
)  # fmt: skip
