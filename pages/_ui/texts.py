"""Words, numbers and times as the custodian reads them.

How to use: `plain(name)` around everything that came from outside before it goes into Markdown;
`number`, `share`, `interval`, `seconds`, `when` for values; `GUARANTEES[kind]` for a badge;
`label_name("PERSON")`; `run_name(run)`. Record text never passes through Markdown, escaped or not.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime

import engine
from engine import LABELS

MARKDOWN = re.compile(r"([\\`*_\[\]<>#$~|!])")
# Addresses become links after escapes are resolved, so only a character inside them stops it: a word joiner, unseen.
LINKED = re.compile(r"(?<=https:)(?=//)|(?<=http:)(?=//)|(?<=www)(?=\.)|(?<=\S)(?=@\w)", re.IGNORECASE)
WORD_JOINER = "\u2060"

# guarantee kind -> (badge text, badge colour, icon, sentence)
GUARANTEES: dict[str, tuple[str, str, str, str]] = {
    "none": ("no formal guarantee", "gray", "remove_moderator", "Nothing is proven about this method."),
    "heuristic": ("no formal guarantee", "gray", "remove_moderator", "It replaces or filters; nothing is proven."),
    "selection-only": ("selection only", "orange", "filter_alt", "Private data only chose among outputs."),
    "dp": ("ε–δ guarantee", "blue", "verified_user", "A proven bound (differential privacy)."),
}

STATES: dict[str, tuple[str, str, str]] = {
    "queued": ("waiting", "gray", "schedule"),
    "running": ("running", "blue", "progress_activity"),
    "done": ("done", "green", "check_circle"),
    "failed": ("failed", "red", "error"),
    "cancelled": ("cancelled", "gray", "cancel"),
}

JOBS = {
    "profile": "Looking for near-duplicates",
    "detect": "Looking for identifiers",
    "synthesize": "Making synthetic text",
    "examine": "Measuring privacy and utility",
    "account": "Computing the exact accounting",
    "signal": "Computing what a budget buys",
    "study": "Running a study",
    "selftest": "Testing a language model",
    "fetch": "Fetching a language model",
    "pool check": "Comparing a pool with private records",
    "first texts": "Writing five texts for the public description",
}

STEPS = {
    "detect": ("Look for identifiers", "review"),
    "review": ("Review what was found", "review"),
    "plan": ("Plan a run", "plan"),
    "run": ("Watch the run", "run"),
    "examine": ("Examine the run", "privacy"),
    "release": ("Release", "release"),
    "done": ("Open the release", "release"),
}

UNITS = {
    "record": ("one record", "Each row stands alone: the text of one row is what must not be recognised."),
    "source": ("everyone's records together", "All rows of one person, case or author count as one."),
}

UNIT_NOUNS = {"record": "a record", "source": "a person"}
UNIT_PLURALS = {"record": "records", "source": "people or cases"}

NO_CLAIM = "This method proves nothing, so it spends nothing. A release of its outputs makes the total unbounded."

GLOSSARY = {
    "corpus": "One imported file of private text with its settings.",
    "unit of protection": "What must not be recognisable: one record, or all records of one person.",
    "holdout": "A part set aside at import that no method ever sees; the yardstick for leaks.",
    "identifier": "Text that points at a person: a name, a number, a place with a date.",
    "direct identifier": "Points at one person by itself, such as a name or a number.",
    "indirect identifier (quasi-identifier)": "Points at a person together with others, such as a place or a job.",
    "threshold": "From this confidence on, a finding counts as accepted until someone decides otherwise.",
    "surrogate": "An invented value of the same type put in place of an identifier.",
    "guarantee": "What is proven about a method before any measurement. Most methods have none.",
    "budget (ε)": "How much proven privacy loss all runs with a guarantee together may add up to.",
    "ε (epsilon)": "How much one person's text can change what leaves. Smaller protects more.",
    "δ (delta)": "A small probability allowed on top of the factor that ε sets. Smaller protects more.",
    "noise (σ)": "The spread of the random number added to each statistic before anything else sees it.",
    "pool": "Texts made elsewhere, without the private data, that a run may choose from.",
    "prompt pack": "Prompts that hold nothing private, to be answered by a model anywhere.",
    "population": "The people behind one or more files. The budget is theirs and outlives a deleted file.",
    "ledger": "The lines of every use of private text, each chained to the one before.",
    "touch": "A use that no guarantee covers: a run without a proof, or an examination. It must stay inside.",
    "gate": "The policy's check-list; a release passes only when each rule is met.",
    "funnel": "How many outputs were made, dropped by which step, and kept.",
}


def meaning(*terms: str) -> str:
    """Return what words of the glossary mean, for the help beside the place where they are used."""
    return "\n\n".join(f"**{term}**: {GLOSSARY[term]}" for term in terms)


def plain(text: object) -> str:
    """Return text on one line with Markdown's special characters escaped and nothing that becomes a link."""
    return LINKED.sub(WORD_JOINER, MARKDOWN.sub(r"\\\1", " ".join(str(text).split())))


def number(value: float | int | None, digits: int = 2) -> str:
    """Return a number with thousands separators, or a dash where there is none."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}"
    return f"{value:,.{digits}f}"


def share(value: float | None, digits: int = 1) -> str:
    """Return a fraction of one as percent."""
    if value is None or math.isnan(value):
        return "–"
    return f"{100 * value:.{digits}f}%"


def interval(low: float | None, high: float | None, digits: int = 2) -> str:
    """Return the ends of a 95% interval, or an empty string."""
    return "" if low is None or high is None else f"{number(low, digits)} to {number(high, digits)}"


def seconds(value: float | None) -> str:
    """Return a duration in words."""
    if value is None or math.isnan(value):
        return "unknown"
    if value < 1:
        return "less than a second"
    if value < 90:
        return f"{round(value)} s"
    if value < 5400:
        return f"{round(value / 60)} min"
    return f"{value / 3600:.1f} h"


def when(stamp: str | None) -> str:
    """Return an ISO 8601 UTC time as a local date and time, or a dash."""
    if not stamp:
        return "–"
    moment = datetime.fromisoformat(stamp.replace("Z", "+00:00"))
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment.astimezone().strftime("%-d %b %Y, %H:%M")


def count_of(value: int, noun: str, plural: str | None = None) -> str:
    """Return "1 record" or "2 records"."""
    return f"{value:,} {noun if value == 1 else plural or noun + 's'}"


def label_name(label: str) -> str:
    """Return a label's plain name."""
    return LABELS[label][0] if label in LABELS else label.lower()


def run_name(run: engine.RunSummary) -> str:
    """Return how a run is called in pickers: its own name, or title, promise and time.

    Nothing in it changes while a run goes on: a browser keeps the label of the option that was chosen.
    """
    promise = f" · ε {run.guarantee.epsilon:.3g}" if run.guarantee.kind == "dp" and run.guarantee.epsilon else ""
    return f"{run.name or run.title}{promise} · {when(run.created)}"
