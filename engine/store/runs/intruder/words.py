"""What an intruder trial says, in sentences: for the assessment file and the command line; internal."""

from __future__ import annotations

from engine.store.runs.intruder.views import Trial, TrialResult

LIMIT = (
    "It holds for a person with this time and these means. Another may know more, or have more time; nothing follows "
    "for them."
)


def sentences(found: TrialResult) -> tuple[str, ...]:
    """Return what a trial found, with its interval, its sample and what it assumes, and the run's trials before it."""
    trial, share = found.trial, found.share
    drawn = (
        f"Intruder trial {trial.look} of {trial.at[:10]}: {trial.texts:,} of {trial.drawn_from:,} approved texts, "
        f"drawn at random by {trial.drawn_by}; {trial.minutes:,} minutes. Means: {trial.means}"
    )
    before = earlier(found)
    if share is None:
        return *before, drawn, f"It tells nothing yet. {found.why}"
    took = f"{trial.intruder} took {trial.spent:,} of the {trial.minutes:,} minutes"
    said = [drawn, f"{took} and named somebody for {trial.claims:,} texts.{_checked(found)}"]
    said.append(
        f"Texts whose person such an intruder names rightly: {_percent(share.value)} ({_percent(share.low)} to "
        f"{_percent(share.high)}, {100 * share.level:.4g}% interval, exact for the {trial.approved:,} approved texts); "
        f"for further texts made in the same way at most {_percent(share.further)}."
    )
    return (*before, *said, LIMIT)


def earlier(found: TrialResult) -> tuple[str, ...]:
    """Return what became of each trial before a run's latest one, and how often its texts were tried in other runs."""
    count = found.trial.elsewhere
    elsewhere = () if not count else (
        f"The same texts, or many of them, were tried {count:,} times before in other runs; the interval counts that.",
    )  # fmt: skip
    return elsewhere + tuple(
        f"Before it, intruder trial {one.look} of {one.at[:10]}: {one.texts:,} of {one.drawn_from:,} approved texts, "
        f"{one.minutes:,} minutes. {_became(one)}"
        for one in found.earlier
    )


def _became(trial: Trial) -> str:
    """Return how an earlier trial ended; of claims that were not all checked, only how many there are."""
    if not trial.begun:
        return "Nobody took it on."
    took = f"{trial.intruder} took {trial.spent:,} of them and " if trial.ended else f"{trial.intruder} "
    named = f"{took}named somebody for {trial.claims:,} texts"
    if not trial.complete:
        return f"{named}; claims that nobody checked: {trial.claims - trial.judged:,}."
    return f"{named}: {trial.right:,} right, {trial.unclear:,} could not be told.{changed(trial)}"


def _checked(found: TrialResult) -> str:
    trial = found.trial
    if not trial.claims:
        return " There was nothing to check."
    unclear = f", {trial.unclear:,} could not be told and count as right" if trial.unclear else ""
    gone = f"; {trial.removed_right:,} of these texts are no longer approved" if trial.removed_right else ""
    return f" Checked by {', '.join(trial.checkers)}: {trial.right:,} right{unclear}{gone}.{changed(trial)}"


def changed(trial: Trial) -> str:
    """Return how many verdicts were changed after the bound could be seen, empty for none."""
    if not trial.changed:
        return ""
    return f" Verdicts that were changed after the bound was seen: {trial.changed:,}; each has its reason in the log."


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"
