"""Membership attacks on models that someone trains on the synthetic text: small language models and a classifier.

Members are the seeds where the method names them (lineage), else training records; non-members are the holdout.
All models are made fresh, from the synthetic text alone, in a vocabulary of public text. Shadow models are
"model-only" (`engine.examine.members.trained.shadows`) and trained together.

Privacy posture: private text is scored in memory and never trained on here; models are dropped when the part ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.examine.findings.part import Part
from engine.examine.members.membership import TRAINED, membership_part
from engine.examine.members.trained import models_scores as scores
from engine.examine.members.trained.classifiers import ATTACKS as CLASSIFIER
from engine.examine.members.trained.classifiers import TITLES, Judged, all_missing, classifier_part
from engine.examine.prepare import Prepared
from engine.examine.samples import sample, sample_units
from engine.examine.values.leaks import NO_HOLDOUT
from engine.json_types import JSON

LANGUAGE = tuple(name for name in TITLES if name not in CLASSIFIER)
SWITCHED_OFF = "attacks on models trained on the synthetic text were switched off"
TINY_RECORDS = 300  # private records below which everything is kept small
SEED_MODELS = 7_000

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Effort:
    """How much is computed.

    Args:
        synthetic: texts trained on at most. private: records scored a side at most. tokens: of a record.
        width, layers, epochs: of the model attacked and of its shadows. shadows: how many, even.
        builtin: whether REFER compares with the built-in language model, or with public word frequencies.
    """

    synthetic: int
    private: int
    tokens: int
    width: int
    layers: int
    epochs: int
    shadows: int
    builtin: bool


FULL = Effort(synthetic=800, private=1500, tokens=128, width=64, layers=2, epochs=5, shadows=16, builtin=True)
TINY = Effort(synthetic=48, private=100, tokens=32, width=32, layers=1, epochs=3, shadows=4, builtin=False)
CHARACTERS = 600_000  # of synthetic text at most, but at least as many texts as this:
LEAST_TEXTS = 50
TOKENS_TOGETHER = 400_000  # tokens an epoch of all shadow models; fewer models where texts are many


def examine_model_attacks(prepared: Prepared) -> Part:
    """Return eight attacks on a language model and three on a classifier, both trained on the synthetic text."""
    stage = "models trained on the text"
    prepared.report(stage, 0, 1)
    if not prepared.given.model_attacks:
        return all_missing(LANGUAGE + CLASSIFIER, SWITCHED_OFF)
    if not len(prepared.holdout):
        return all_missing(LANGUAGE + CLASSIFIER, NO_HOLDOUT)
    effort = effort_for(prepared)
    judged = chosen(prepared, effort)
    if not len(judged.train):
        return all_missing(LANGUAGE + CLASSIFIER, "no record that a synthetic text stems from is in the training part")
    part = _language(prepared, effort, judged)
    part.add(classifier_part(prepared, judged, _settings(prepared, effort, judged)))
    prepared.report(stage, 1, 1)
    return part


def effort_for(prepared: Prepared) -> Effort:
    """Return how much to compute: all of it, or little for a few records."""
    return TINY if len(prepared.train) + len(prepared.holdout) < TINY_RECORDS else FULL


def chosen(prepared: Prepared, effort: Effort) -> Judged:
    """Return which records take part, the same for the same seed; whole units where they are drawn."""
    mean = sum(len(str(text)) for text in prepared.synthetic.texts) / len(prepared.synthetic)
    size = min(effort.synthetic, max(LEAST_TEXTS, int(CHARACTERS / max(1.0, mean))))
    synthetic = sample(prepared.synthetic.record_ids, size, prepared.seed, "model attacks")
    lineage = prepared.synthetic.lineage
    rows = np.arange(len(prepared.train))
    if lineage is not None:
        used = {str(source) for source in lineage[synthetic] if source is not None}
        rows = np.array([i for i, record in enumerate(prepared.train.record_ids) if record in used], np.int64)
    train = rows[sample_units(prepared.train.units[rows], effort.private, prepared.seed, "model attacks")]
    holdout = sample_units(prepared.holdout.units, effort.private, prepared.seed, "model attacks")
    return Judged(train, holdout, synthetic, lineage is not None)


def _teller(prepared: Prepared, stage: str) -> Callable[[int, int], None]:
    return lambda done, total: prepared.report(stage, done, total)


def _language(prepared: Prepared, effort: Effort, judged: Judged) -> Part:
    """Return the attacks on a language model."""
    from engine.models.threads import one_thread

    with one_thread(effort is TINY):
        found = language_scores(prepared, effort, judged)
    whole = Part()
    for attack in LANGUAGE:
        if attack not in found:
            whole.add(all_missing((attack,), "there is one synthetic text only, so no shadow model goes without it"))
            continue
        values, extra = found[attack]
        held = np.isfinite(values)  # the record in front of ReCaLL is not judged by it
        ours, theirs = held[: len(judged.train)], held[len(judged.train) :]
        whole.add(
            membership_part(
                prepared,
                attack,
                TITLES[attack],
                TRAINED,
                values[: len(ours)][ours],
                values[len(ours) :][theirs],
                train_rows=judged.train[ours],
                holdout_rows=judged.holdout[theirs],
                note=str(extra.get("shadows_are") or extra.get("prefix") or extra.get("against") or ""),
                settings={**_settings(prepared, effort, judged), **extra},
            )
        )
    return whole


def _settings(prepared: Prepared, effort: Effort, judged: Judged) -> dict[str, JSON]:
    return {
        "effort": f"kept small: fewer than {TINY_RECORDS} private records" if effort is TINY else "full",
        "model": f"fresh causal transformer, {effort.layers} layers of width {effort.width}, {effort.epochs} epochs",
        "synthetic_records": len(judged.synthetic),
        "synthetic_sampled": len(judged.synthetic) < len(prepared.synthetic),
        "members_are": "records that synthetic ones stem from" if judged.seeds else "training records",
        "private_sampled": bool(len(judged.holdout) < len(prepared.holdout) or len(judged.train) == effort.private),
        "tokens_of_a_record": effort.tokens,
    }


def language_scores(prepared: Prepared, effort: Effort, judged: Judged) -> dict[str, tuple[Floats, dict[str, JSON]]]:
    """Return attacks' scores, members first then holdout, and what else their findings say.

    Scores are NaN where a record is not judged. Attacks that need shadow models are left out with one text alone.
    """
    from engine.examine.members.trained.shadows import MODEL_ONLY, balanced_coins, nearest_text
    from engine.models.tune import small_causal as lm
    from engine.models.tune.stacked import Shape, Training

    synthetic = [str(text) for text in prepared.synthetic.texts[judged.synthetic]]
    private = [str(t) for t in (*prepared.train.texts[judged.train], *prepared.holdout.texts[judged.holdout])]
    prepared.report("reading tokens", 0, 1)
    made = lm.encode(synthetic)
    rows = [row[: effort.tokens] for row in lm.encode(private)]
    shape = Shape(lm.vocabulary_size(), effort.width, effort.layers, context=effort.tokens)
    training = Training(epochs=effort.epochs)
    everything = np.ones((1, len(made)), bool)
    seed = prepared.seed * 1_000 + SEED_MODELS
    tell = _teller(prepared, "training on the synthetic text")
    target, _ = lm.fitted(made, everything, [seed], shape, training, tell)
    tokens = lm.token_statistics(target, rows, _teller(prepared, "scoring private records"))
    own = scores.perplexity(tokens)
    texts = lm.decode(rows)
    against, public = _public(prepared, effort, rows, texts)
    prefix, front = _prefix(prepared, judged, rows, effort.tokens // 2)
    halves = [row[: effort.tokens - len(front)] for row in rows]
    tell = _teller(prepared, "scoring behind a prefix")
    behind = lm.log_probability_behind(target, front, halves, tell)
    alone = np.array([float(one[0, : len(half)].mean()) for one, half in zip(tokens, halves, strict=True)])
    recalled = scores.behind_prefix(behind, alone)
    recalled[prefix] = np.nan
    found: dict[str, tuple[Floats, dict[str, JSON]]] = {
        "mia_ppl": (own, {}),
        "mia_refer": (scores.reference(own, public), {"against": against}),
        "mia_zlib": (scores.compressed(tokens, texts), {}),
        "mia_mink": (scores.least_likely(tokens), {"share": scores.K}),
        "mia_minkpp": (scores.least_likely_standardised(tokens), {"share": scores.K}),
        "mia_recall": (recalled, {"prefix": f"{len(front)} tokens of a holdout record that is not judged"}),
    }
    count = shadow_count(effort, sum(map(len, made)))
    if len(set(synthetic)) < 2:  # no model could go without the one text
        return found
    coins = balanced_coins(count, synthetic, seed)
    tell = _teller(prepared, f"{count} shadow models together")
    stack, _ = lm.fitted(made, coins, [seed + 1 + i for i in range(count)], shape, training, tell)
    shadows = lm.mean_log_probability(stack, rows, _teller(prepared, "scoring with shadow models"))
    near, cosine = nearest_text(rows, made, shape.vocabulary)
    out = ~coins[:, near]
    population = np.arange(len(rows)) >= len(judged.train)
    said: dict[str, JSON] = {
        "shadows": count,
        "shadows_are": f"{count} shadow models, {MODEL_ONLY}",
        "variance": "pooled",
    }
    said["nearest_cosine"] = float(np.median(cosine))
    found["mia_lira"] = scores.likelihood_ratio(own, shadows, out), said
    found["mia_rmia"] = (
        scores.robust_ratio(own, shadows, out, population),
        {**said, "population": "holdout records"},
    )
    return found


def shadow_count(effort: Effort, tokens: int) -> int:
    """Return how many shadow models the time allows: even, at least 4."""
    return max(4, min(effort.shadows, TOKENS_TOGETHER // max(1, tokens // 2) // 2 * 2))


def _prefix(
    prepared: Prepared, judged: Judged, rows: list[NDArray[np.int64]], tokens: int
) -> tuple[int, NDArray[np.int64]]:
    """Return the number (among `rows`) and the first tokens of the holdout record that ReCaLL puts in front."""
    ids = prepared.holdout.record_ids[judged.holdout]
    first = int(sample(ids, 1, prepared.seed, "prefix")[0]) + len(judged.train)
    return first, rows[first][:tokens]


def _public(prepared: Prepared, effort: Effort, rows: list[NDArray[np.int64]], texts: list[str]) -> tuple[str, Floats]:
    """Return what REFER compares with, and its log-probability of each record by the number of our tokens."""
    if effort.builtin:
        from engine.models.builtin.language_model import load_builtin_generator

        model = load_builtin_generator()
        nats: list[float] = []
        for at in range(0, len(texts), 32):
            prepared.report("scoring with the built-in model", at, len(texts))
            nats += [float(one.sum()) for one in model.score(texts[at : at + 32])]
        return "the built-in language model", np.array(nats) / np.array([len(row) for row in rows])
    from engine.corpus.samples import load_sample
    from engine.models.tune import small_causal as lm

    prepared.report("counting public words", 0, 1)
    public = np.concatenate(lm.encode(load_sample("clinic_letters")["text"].tolist()[:100]))
    counts = np.bincount(public, minlength=lm.vocabulary_size()) + 1.0
    chance = np.log(counts / counts.sum())
    return "frequencies of word pieces in made-up letters", np.array([float(chance[row].mean()) for row in rows])
