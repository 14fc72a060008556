"""Words, numbers and times as the custodian reads them.

How to use: `plain(name)` around everything that came from outside before it goes into Markdown;
`number`, `share`, `interval`, `seconds`, `when` for values; `GUARANTEES[kind]` for a badge;
`label_name("PERSON")`; `run_name(run)`. Record text never passes through Markdown, escaped or not.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime

import engine
from engine import LABELS
from pages._ui.language import localised, mark, tr, translator, trn, words
from pages._ui.plan.words import CARDS, FACES

FILTERED = "filter:"  # what the id of a method begins with that has the filter behind it
COMMANDS = re.compile(r",? \(?or (?:by|with) “ledger [^”]*”(?: or “[^”]*”)?\)?| \(`[a-z][a-z -]*`\)")
MARKDOWN = re.compile(r"([\\`*_\[\]<>#$~|!])")
# Addresses become links after escapes are resolved, so only a character inside them stops it: a word joiner, unseen.
LINKED = re.compile(r"(?<=https:)(?=//)|(?<=http:)(?=//)|(?<=www)(?=\.)|(?<=\S)(?=@\w)", re.IGNORECASE)
WORD_JOINER = "\u2060"
END = re.compile(r"(?<=\w{3})[.!?](?=\s)|(?<=[)”’\"'%])[.!?](?=\s)")  # of a sentence; "Dr." and "e.g." end none

# guarantee kind -> (badge text, which is that of the card, badge colour, icon, sentence)
GUARANTEES: dict[str, tuple[str, str, str, str]] = {
    "none": (FACES["heuristic"][0], "gray", "remove_moderator", mark("Nothing is proven about this method.")),
    "heuristic": (
        FACES["heuristic"][0],
        "gray",
        "remove_moderator",
        mark("It replaces or filters; nothing is proven."),
    ),
    "selection-only": (
        FACES["selection-only"][0],
        "orange",
        "filter_alt",
        mark("Private data only chose among outputs."),
    ),
    "dp": (FACES["dp"][0], "blue", "verified_user", mark("An ε–δ guarantee (differential privacy).")),
}

STATES: dict[str, tuple[str, str, str]] = {
    "queued": (mark("waiting"), "gray", "schedule"),
    "running": (mark("running"), "blue", "progress_activity"),
    "done": (mark("done"), "green", "check_circle"),
    "failed": (mark("failed"), "red", "error"),
    "cancelled": (mark("cancelled"), "gray", "cancel"),
}

JOBS = {
    "profile": mark("Looking for near-duplicates"),
    "detect": mark("Looking for identifiers"),
    "synthesize": mark("Making synthetic text"),
    "examine": mark("Measuring privacy and utility"),
    "account": mark("Computing the exact accounting"),
    "signal": mark("Computing what a budget buys"),
    "study": mark("Running a study"),
    "selftest": mark("Testing a language model"),
    "fetch": mark("Fetching a language model"),
    "pool check": mark("Comparing a pool with private records"),
    "first texts": mark("Writing five texts for the public description"),
}

STEPS = {
    "detect": (mark("Look for identifiers"), "review"),
    "review": (mark("Review what was found"), "review"),
    "plan": (mark("Plan a run"), "plan"),
    "run": (mark("Watch the run"), "run"),
    "examine": (mark("Examine the run"), "privacy"),
    "release": (mark("Release"), "release"),
    "done": (mark("Open the release"), "release"),
}

UNITS = {
    "record": (mark("one record"), mark("Each row stands alone: the text of one row is what must not be recognised.")),
    "source": (
        mark("each person, with all their records"),
        mark("All rows of one person, case or author count as one."),
    ),
}

UNIT_NOUNS = {"record": mark("a record"), "source": mark("a person")}
UNIT_PLURALS = {"record": mark("records"), "source": mark("people or cases")}

NO_CLAIM = mark("This method proves nothing, so it spends nothing. A release of its outputs makes the total unbounded.")

GLOSSARY = {
    mark("corpus"): mark("One imported file of private text with its settings."),
    mark("unit of protection"): mark("What must not be recognisable: one record, or all records of one person."),
    mark("holdout"): mark("A part set aside at import that no method ever sees; the yardstick for leaks."),
    mark("identifier"): mark("Text that points at a person: a name, a number, a place with a date."),
    mark("direct identifier"): mark("Points at one person by itself, such as a name or a number."),
    mark("indirect identifier (quasi-identifier)"): mark(
        "Points at a person together with others, such as a place or a job."
    ),
    mark("threshold"): mark("From this confidence on, a finding counts as accepted until someone decides otherwise."),
    mark("surrogate"): mark("An invented value of the same type put in place of an identifier."),
    mark("guarantee"): mark("What is proven about a method before any measurement. Most methods have none."),
    mark("budget (ε)"): mark("How much proven privacy loss all runs with a guarantee together may add up to."),
    mark("ε (epsilon)"): mark("How much one person's text can change what leaves. Smaller protects more."),
    mark("δ (delta)"): mark("A small probability allowed on top of the factor that ε sets. Smaller protects more."),
    mark("noise (σ)"): mark("The spread of the random number added to each statistic before anything else sees it."),
    mark("pool"): mark("Texts made elsewhere, without the private data, that a run may choose from."),
    mark("prompt pack"): mark("Prompts that hold nothing private, to be answered by a model anywhere."),
    mark("population"): mark("The people behind one or more files. The budget is theirs and outlives a deleted file."),
    mark("ledger"): mark("The lines of every use of private text, each chained to the one before."),
    mark("touch"): mark(
        "A use that no guarantee covers: a run without a proof, or an examination. It must stay inside."
    ),
    mark("gate"): mark("The policy's check-list; a release passes only when each rule is met."),
    mark("funnel"): mark("How many outputs were made, dropped by which step, and kept."),
    mark("set aside"): mark("Drawn by lot at import into the holdout; on Load you say how many."),
    mark("cap"): mark("The most records of one person that are used. It counts as public."),
    mark("spot check"): mark("Texts drawn at random and read to the end. They tell how much was missed in all."),
    mark("candidate"): mark("A text that a method made or a pool holds, from which private records or scores choose."),
    mark("examination"): mark(
        "A run's texts held against private records: what they give away, what they are good for."
    ),
    mark("leak"): mark("What a text gives away of the records used more often than chance does."),
    mark("chance"): mark("What the same attack finds of records that no method saw. What exceeds it is a leak."),
    mark("cannot tell"): mark("Too little was measured to say whether there is a leak."),
    mark("not above chance in so few"): mark(
        "Nothing beyond chance was found, but in so few records that a leak is not excluded."
    ),
    mark("shared value"): mark(
        "A value in the records of more than one person in ten. It tells nobody apart, so it is not counted."
    ),
    mark("canary"): mark("An invented record put among the private ones, to see whether it comes out."),
    mark("intruder trial"): mark("A person says, within a set time, whom a random sample of texts is about."),
    mark("policy"): mark("The rules that a release must meet; which one fits depends on who will read the text."),
    mark("waiver"): mark("One rule that a person lets a run pass, with name, reason and last day. Readers see it."),
    mark("assessment file"): mark("Questions of a data-protection officer about a run, with answers, to download."),
}


def glossary() -> list[tuple[str, str]]:
    """Return the words of this program and what they mean, by the alphabet of what is shown in the language spoken."""
    return sorted(((tr(term), tr(said)) for term, said in GLOSSARY.items()), key=lambda entry: _as_read(entry[0]))


def _as_read(term: str) -> tuple[str, str]:
    """Return what a word is ordered by: its letters without accents, and the name of a sign instead of the sign."""
    letters = "".join(one for one in unicodedata.normalize("NFKD", term.casefold()) if not unicodedata.combining(one))
    head, _, rest = letters.partition(" ")
    return (rest.strip("()") if len(head) == 1 and rest else letters), term


def meaning(*terms: str) -> str:
    """Return what words of the glossary mean, for the help beside the place where they are used."""
    return "\n\n".join(f"**{tr(term)}**: {tr(GLOSSARY[term])}" for term in terms)


def first_sentence(text: str) -> str:
    """Return the first sentence of a text, without its full stop; all of it where it is one."""
    found = END.search(text)
    return (text[: found.start()] if found else text).strip().rstrip(".").rstrip()


def plain(text: object) -> str:
    """Return text on one line with Markdown's special characters escaped and nothing that becomes a link."""
    return LINKED.sub(WORD_JOINER, MARKDOWN.sub(r"\\\1", " ".join(str(text).split())))


def on_page(sentence: str) -> str:
    """Return an engine's sentence without the commands it names beside the page where the same is done."""
    return COMMANDS.sub("", sentence)


def number(value: float | int | None, digits: int = 2) -> str:
    """Return a number with thousands separators, or a dash where there is none."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, int) or float(value).is_integer():
        return localised(f"{int(value):,}")
    return localised(f"{value:,.{digits}f}")


def share(value: float | None, digits: int = 1) -> str:
    """Return a fraction of one as percent; less than all is never said to be all."""
    if value is None or math.isnan(value):
        return "–"
    most = 100.0 if value >= 1.0 - 1e-12 else 100.0 - 10.0**-digits
    return localised(f"{min(most, 100 * value) if value <= 1.0 else 100 * value:.{digits}f}%")


def decimal(value: float, digits: int) -> str:
    """Return a number with so many digits behind the point."""
    return localised(f"{value:.{digits}f}")


def significant(value: float, form: str = ".3g") -> str:
    """Return a number with few digits in all, as `form` writes it."""
    return localised(f"{value:{form}}")


def interval(low: float | None, high: float | None, digits: int = 2) -> str:
    """Return the ends of a 95% interval, or an empty string."""
    return (
        "" if low is None or high is None else tr("{low} to {high}", low=number(low, digits), high=number(high, digits))
    )


def seconds(value: float | None) -> str:
    """Return a duration in words."""
    if value is None or math.isnan(value):
        return tr("unknown")
    if value < 1:
        return tr("less than a second")
    if round(value) < 60:
        return tr("{n} s", n=round(value))
    if round(value) < 120:  # in whole minutes half of it would be rounded away
        minutes, over = divmod(round(value), 60)
        return tr("{n} min {s} s", n=minutes, s=over) if over else tr("{n} min", n=minutes)
    if value < 5400:
        return tr("{n} min", n=round(value / 60))
    return tr("{n} h", n=localised(f"{value / 3600:.1f}"))


def when(stamp: str | None) -> str:
    """Return an ISO 8601 UTC time as a local date and time, or a dash."""
    if not stamp:
        return "–"
    moment = datetime.fromisoformat(stamp.replace("Z", "+00:00"))
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return words.moment(moment.astimezone())


def count_of(value: int, noun: str, plural: str | None = None) -> str:
    """Return "1 record" or "2 records"."""
    one, many = f"{{n}} {noun}", f"{{n}} {plural or noun + 's'}"  # as `language.extract` notes them
    return trn(one, many, value)


def label_name(label: str) -> str:
    """Return a label's plain name."""
    return tr(LABELS[label][0]) if label in LABELS else label.lower()


def label_names() -> Callable[[str], str]:
    """Return `label_name` bound to the language spoken now, for a widget that calls it later."""
    return translator({label: said[0] for label, said in LABELS.items()})


def method_name(run: engine.RunSummary) -> str:
    """Return the method of a run by the name on its card, so that it is called what was chosen on the Plan page."""
    card = CARDS.get(run.method.removeprefix(FILTERED))
    if card is None:
        return run.title
    return tr("{method}, then filtered", method=tr(card.name)) if run.method.startswith(FILTERED) else tr(card.name)


def method_title(run: engine.RunSummary) -> str:
    """Return the method's English name on its card, empty where it has none: for files, which are English."""
    card = CARDS.get(run.method.removeprefix(FILTERED))
    if card is None:
        return ""
    return f"{card.name}, then filtered" if run.method.startswith(FILTERED) else card.name


def run_title(run: engine.RunSummary) -> str:
    """Return a run's own name, or that of its method: what it is called where its time is told besides."""
    return run.name or method_name(run)


def run_name(run: engine.RunSummary) -> str:
    """Return how a run is called in pickers: its own name, or its method, promise and time.

    Nothing in it changes while a run goes on: a browser keeps the label of the option that was chosen.
    """
    promise = (
        f" · ε {localised(engine.upward(run.guarantee.epsilon))}"
        if run.guarantee.kind == "dp" and run.guarantee.epsilon
        else ""
    )
    return f"{run_title(run)}{promise} · {when(run.created)}"
