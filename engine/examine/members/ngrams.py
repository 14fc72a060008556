"""Findings from the n-gram attack: membership by the phrases of the synthetic text, less those of public text."""

from __future__ import annotations

from engine.corpus.text.words import WordTable, cut
from engine.examine.findings.make import missing
from engine.examine.findings.part import Part
from engine.examine.members.members import member_rows, other_rows
from engine.examine.members.membership import RELEASED, membership_part
from engine.examine.members.ngrams_scores import WINDOW, NgramScores, fit, score
from engine.examine.prepare import Prepared
from engine.examine.values.leaks import NO_HOLDOUT

STAGE = "phrases of the synthetic text"
MOST = 50_000  # records a side
ATTACKS = (("ngram", "N-gram model", "mean"), ("ngram_window", "N-gram model, likeliest ten words", "window"))
NO_WORDS = "the synthetic records hold no words"


def examine_ngrams(prepared: Prepared) -> Part:
    """Return the two n-gram attacks: mean log-likelihood ratio, and its maximum over ten words in a row."""
    prepared.report(STAGE, 0, 4)
    why = NO_HOLDOUT if not len(prepared.holdout) else NO_WORDS
    public, names = public_words(prepared)
    ratio = fit(prepared.synthetic.words, public)
    if ratio is None or not len(prepared.holdout):
        return Part([missing(name, "train", why) for attack, _, _ in ATTACKS for name in (attack, f"{attack}_tpr01")])
    prepared.report(STAGE, 1, 4)
    ours, who = member_rows(prepared, MOST, "n-grams")
    theirs = other_rows(prepared, MOST, "n-grams")

    def scored(words: WordTable, what: str) -> NgramScores:
        return score(ratio, words, lambda done, total: prepared.report(f"{STAGE}: {what}", done, total))

    members, others = (
        scored(prepared.train.words.take(ours), "train"),
        scored(prepared.holdout.words.take(theirs), "holdout"),
    )
    part = Part()
    for step, (attack, title, which) in enumerate(ATTACKS, 2):
        prepared.report(STAGE, step, 4)
        part.add(
            membership_part(
                prepared, attack, title, RELEASED, getattr(members, which), getattr(others, which),
                train_rows=ours, holdout_rows=theirs, note=f"Members: {who}.", settings={
                    "members_are": who, "reference_text": names, "order": 3,
                    "window": WINDOW if which == "window" else None,
                },
            )
        )  # fmt: skip
    prepared.report(STAGE, 4, 4)
    return part


def public_words(prepared: Prepared) -> tuple[WordTable, str]:
    """Return the words of the shipped made-up corpora, and their names, without a corpus under examination."""
    from engine.corpus.samples import SAMPLES, load_sample
    from engine.errors import UserError

    private = {*prepared.train.texts, *prepared.holdout.texts}
    texts: list[str] = []
    names = []
    for info in SAMPLES:
        try:
            found = load_sample(info.id)["text"].tolist()
        except (UserError, OSError):
            continue
        if private.isdisjoint(found):
            texts += found
            names.append(info.title.lower())
    return cut(texts, prepared.vocabulary), "made-up " + ", ".join(names) if names else "none"
