"""Say in plain sentences what the findings mean for privacy: five of them; uses have a table in `uses`.

Thresholds are fixed here, before any run is looked at:
- privacy compares the training part with the holdout at equal size (`_excess`). An excess whose interval lies
  above 0 is `leak`; one whose upper end is at most `NEGLIGIBLE` is `chance`; anything else `unsure`. The sentence
  names the shares that were compared, not the one against the whole training part. Closeness on average, whose
  excess lies above 0 but nowhere above `NEGLIGIBLE`, is `slight`. Where a sentence chooses among
  several measures, it says `leak` of one whose interval stays above 0 when all of them are to hold together.
- of an `unsure` one nothing was seen (`Sentence.nothing`) where no measure of its kind exceeds the holdout by more than
  `NEGLIGIBLE`, nor could by more than `BARELY`, and where copies of the whole training part are as rare; the sentence
  then says what cannot be excluded.
- attacks are judged together (`engine.examine.stats.simultaneous`), a proof by its trade-off curve
  (`engine.figures.privacy.proof_attack`).

Light: the web process imports this.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.dp.upward import upward
from engine.examine.findings.findings import Finding, Reference
from engine.examine.findings.sentence import BARELY, NEGLIGIBLE, Level, Sentence
from engine.examine.findings.uses import unreadable
from engine.examine.measures import MEASURES, show
from engine.examine.stats.intervals import wilson
from engine.examine.stats.simultaneous import membership, wider
from engine.json_types import JSONObject, as_object
from engine.pii.spans import LABELS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["NEGLIGIBLE", "Level", "Sentence", "formal", "level_of", "privacy_verdict", "ranked", "stands_out"]


def _find(findings: Sequence[Finding], name: str, reference: Reference) -> Finding | None:
    found = [f for f in findings if f.name == name and f.reference == reference and f.value == f.value]
    return found[0] if found else None


def level_of(excess: Finding | None) -> Level:
    """Return what an excess over the holdout says."""
    if excess is None or excess.low is None or excess.high is None:
        return "unknown"
    if excess.low > 0:
        return "leak"
    if excess.low == excess.high:  # an earlier edition's interval of a share that never varied: it says nothing
        return "unsure"
    return "chance" if excess.high <= NEGLIGIBLE else "unsure"


_SAYS: dict[Level, str] = {
    "leak": "more than chance explains",
    "slight": f"more than chance explains, but by {NEGLIGIBLE:g} on average at most",
    "unsure": "too few records to tell from chance",
    "chance": "no more than chance explains",
    "unknown": "there is no holdout that would tell how much of it is chance",
}
ONE_PERSON = "strict_alone"  # held against the whole training part, however few were set aside
# name of the finding -> what is said of both sides; the first that stands out is said, else the first that is known
_IDENTIFIERS = (
    ("strict_pipp", "{ours} of the synthetic records give away a private value of {size} training records, however it "
     "is written, {theirs} one of as many records that nobody used"),
    ("strict_pipp_direct", "{ours} of the synthetic records give away a direct identifier of {size} training records, "
     "however it is written, {theirs} one of as many records that nobody used"),
    (ONE_PERSON, "{ours} of the synthetic records hold what one person alone has of {size} training records, however "
     "it is written, {theirs} would by chance, going by people whom nobody used"),
    ("strict_elp", "{ours} of the distinct private values of {size} training records can be recognised in the text, "
     "{theirs} of those of as many records that nobody used"),
    ("pipp", "{ours} of the synthetic records contain a private entity of {size} training records, {theirs} one of as "
     "many records that nobody used"),
    ("pipp_direct", "{ours} of the synthetic records contain a direct identifier of {size} training records, {theirs} "
     "one of as many records that nobody used"),
    ("pipp_context", "of the synthetic records whose own source is known and holds private entities, {ours} contain "
     "one of them, {theirs} one of another training record drawn at random"),
)  # fmt: skip
_COPIES = (
    ("verbatim_8gram", "{ours} of the synthetic records repeat eight words in a row from {size} training records, "
     "{theirs} from as many records that nobody used"),
    ("near_copies_08", "{ours} of the synthetic records nearly repeat one of {size} training records, {theirs} one of "
     "as many records that nobody used"),
)  # fmt: skip
_ALL_COPIES = {  # held against the whole training part: of the synthetic records, and of real ones
    "verbatim_8gram": "{ours} of the synthetic records repeat eight words in a row of the training records; of real "
    "records that nobody used only {theirs} do",
    "near_copies_08": "{ours} of the synthetic records nearly repeat a training record; of real records that nobody "
    "used only {theirs} do",
}
_BRIEFLY = {  # what a share counts, before it in a short line
    "strict_pipp": "a private value in", "strict_alone": "what one person alone has in",
    "strict_pipp_direct": "a direct identifier in", "strict_elp": "recognised are",
    "pipp": "a private entity in", "pipp_direct": "a direct identifier in", "pipp_context": "a word of the source in",
    "verbatim_8gram": "eight words in a row repeated in", "near_copies_08": "nearly repeated in",
    "canary_echo": "word for word", "linkage": "one person pointed to by", "detail_inference": "a detail guessed for",
    "attribute_inference": "the label guessed for",
}  # fmt: skip
ALONE = "strict_elp_direct"  # the settings of it and of its share of records count what one person alone has
OWN_SOURCE = "pipp_context"  # held against another record, not against the holdout
COPIES = tuple(name for name, _ in _COPIES)
WIDE = 0.5  # an interval of a difference of shares that is wider says nothing
CANNOT = "cannot be compared"
NEAREST = "nearest_similarity"
_CLOSENESS = (
    (NEAREST, "on a scale on which 1 is the same text, the nearest of {size} training records lies at "
     "{ours} on average, the nearest of as many that nobody used at {theirs}"),
)  # fmt: skip
_CANARIES = (
    ("canary_echo", "{ours} of the canaries planted among the records used stand in the text word for word, {theirs} "
     "of those that nobody used"),
)  # fmt: skip
_DETAILS = (
    ("linkage", "details that together point to one person stand in one synthetic record for {ours} of the records "
     "used, for {theirs} of those nobody used"),
    ("detail_inference", "whoever knows the rest of a record guesses a missing detail, all kinds taken together, right "
     "for {ours} of the records used, for {theirs} of those nobody used"),
    ("attribute_inference", "whoever knows the text of a record guesses its label right for {ours} of the records "
     "used, for {theirs} of those nobody used"),
)  # fmt: skip
_PRIVACY = (("Real identifiers", _IDENTIFIERS), ("Copied text", _COPIES), ("Closeness", _CLOSENESS))


def stands_out(findings: Sequence[Finding], name: str) -> Level:
    """Return whether a measure lies above chance, training and holdout part taken at equal sizes.

    An `_excess` finding decides where there is one. Else the share against as many training records as the
    holdout has (`equal_size_value`) must lie above the holdout's with its 95% interval: the whole training
    part is larger, so more of it is met by chance. Where no such share is known, the intervals decide.

    Copies also stand out where the synthetic text repeats the whole training part more often than real records do
    that nobody used (the baseline, against the same part), and more often than it repeats the holdout: few copies
    of a large part seldom fall into a cut of the holdout's size.
    """
    if name in COPIES and _more_than_real(findings, name):
        return "leak"
    if name == OWN_SOURCE:
        return _own_source(findings)
    excess = _find(findings, f"{name}_excess", "holdout")
    if excess is not None:
        return level_of(excess)
    train, holdout = _find(findings, name, "train"), _find(findings, name, "holdout")
    if train is None or holdout is None or train.low is None or train.high is None or holdout.high is None:
        return "unknown"
    equal = train.settings.get("equal_size_value")
    low, high = train.low, train.high
    if equal is not None:
        n = min(train.n, holdout.n)
        low, high = wilson(equal * n, n)
    if low > holdout.high:
        return "leak"
    return "chance" if holdout.low is not None and high <= holdout.low + NEGLIGIBLE else "unsure"


def _own_source(findings: Sequence[Finding]) -> Level:
    """Return whether records carry more of their own source than of another one."""
    own, other = (_find(findings, OWN_SOURCE, reference) for reference in ("train", "baseline"))
    if own is None or other is None or own.low is None or other.high is None:
        return "unknown"
    if own.low > other.high:
        return "leak"
    return "chance" if own.high is not None and own.high <= other.value + NEGLIGIBLE else "unsure"


def _more_than_real(findings: Sequence[Finding], name: str) -> bool:
    train = _find(findings, name, "train")
    others = [_find(findings, name, reference) for reference in ("baseline", "holdout")]
    if train is None or train.low is None:
        return False
    return all(other is not None and other.high is not None and train.low > other.high for other in others)


def too_wide(name: str, low: float | None, high: float | None) -> bool:
    """Return whether an interval of a difference of shares is so wide that it compares nothing."""
    shares = name.endswith("_excess") and MEASURES[name].measure.startswith("share")
    return shares and low is not None and high is not None and high - low > WIDE


def privacy_verdict(
    findings: Sequence[Finding],
    attacks: pd.DataFrame | None = None,
    guarantee: JSONObject | None = None,
    violations: Sequence[str] = (),
) -> tuple[Sentence, ...]:
    """Return the sentences: identifiers, copies, membership, closeness, formal claim; each with its level.

    Where the corpus holds planted canaries they get a sentence too, and so do attacks that see the generator, direct
    identifiers that one person alone has, and details of people that are linked or guessed more often than chance.

    Args:
        findings: of one run. attacks: its table of attacks, None where the examination has none.
        guarantee: the run's claim (`Guarantee.as_dict()`).
        violations: titles of attacks whose simultaneous lower band lies above the claim's trade-off curve.
    """
    identifiers, copies, closeness = (_leaked(findings, title, words) for title, words in _PRIVACY)
    canaries = [_leaked(findings, "Planted canaries", _CANARIES)] if _find(findings, "canary_echo", "train") else []
    claim = formal(guarantee or {}, violations)
    nothing = _says_nothing(findings)
    if nothing:
        identifiers, copies, closeness = (_hollow(one) for one in (identifiers, copies, closeness))
    found = (
        *nothing, identifiers, *_of_one_person(findings), copies, *canaries, *_details(findings),
        *membership(attacks), closeness,
    )  # fmt: skip
    if claim.level == "proof" and (guarantee or {}).get("epsilon") == 0:
        found = tuple(_untouched(one) for one in found)
    return (*found, claim)


def given_away(findings: Sequence[Finding], guarantee: JSONObject | None = None) -> tuple[Sentence, ...]:
    """Return the sentences that say that identifiers, text or canaries are given away more than chance explains."""
    known = {name for words in (_IDENTIFIERS, _COPIES, _CANARIES) for name, _ in words}
    found = privacy_verdict(findings, None, guarantee)
    return tuple(one for one in found if one.level == "leak" and one.finding in known)


def _of_one_person(findings: Sequence[Finding]) -> list[Sentence]:
    """Return the sentence about direct identifiers of one person alone, where the text holds any in full.

    No share can tell whether a single one is chance, and a single one may be the harm: a person has to look.
    """
    train, holdout = (_find(findings, ALONE, reference) for reference in ("train", "holdout"))
    count = 0 if train is None else int(train.settings.get("alone") or 0)
    if train is None or not count:
        return []
    texts, among = int(train.settings.get("alone_texts") or 0), int(train.settings.get("alone_of") or 0)
    says, records = "stands" if count == 1 else "stand", "record" if texts == 1 else "records"
    beside = ""
    if holdout is not None and holdout.settings.get("alone_of"):
        of = int(holdout.settings["alone_of"])
        beside = f"; of {of:,} such identifiers of people that nobody used, {int(holdout.settings['alone']):,}"
    return [Sentence(
        f"Identifiers of one person alone: {count:,} of {among:,} full names, numbers and addresses {says} in the text "
        f"in full{beside}. Look at them under Leaks: no share tells whether a single one is chance.",
        "unsure", ALONE, f"{'It is' if count == 1 else 'They are'} in {texts:,} synthetic {records}.", look=True,
    )]  # fmt: skip


def leading(
    findings: Sequence[Finding], name: str, guarantee: JSONObject | None = None
) -> Sentence | None:  # fmt: skip
    """Return the sentence that leads on identifiers or copies where `name` counts one of them, else None.

    So whoever quotes another number of the same kind can say beside it what is judged.
    """
    family = next((words for words in (_IDENTIFIERS, _COPIES) if name in dict(words)), None)
    if family is None:
        return None
    known = {one for one, _ in family}
    return next((one for one in privacy_verdict(findings, None, guarantee) if one.finding in known), None)


_OCCURS = (
    ("the text gives away values of records used", "values of records used also occur in the text"),
    ("give away a private value of", "hold a value that also occurs in"),
    ("give away a direct identifier of", "hold a direct identifier that also occurs in"),
    ("repeat eight words in a row from", "hold eight words in a row that also occur in"),
    ("repeat eight words in a row of", "hold eight words in a row that also occur in"),
)  # of text that no private record went into


def _untouched(sentence: Sentence) -> Sentence:
    """Return a sentence about text that no private record went into, with what a leak there can only be.

    Such a text gives nothing away: a value that stands in both also occurs in it.
    """
    words = [sentence.text, sentence.more]
    for said, meant in _OCCURS:
        words = [text.replace(said, meant) for text in words]
    if sentence.level not in ("leak", "slight") and sentence.finding != ALONE:
        return replace(sentence, text=words[0], more=words[1])
    text = (
        f"{words[0]} No private record went into this text (ε = 0), so this is chance, or what the corpus shares "
        "with public text."
    )
    return Sentence(text, "unsure", sentence.finding, words[1])


def _says_nothing(findings: Sequence[Finding]) -> list[Sentence]:
    """Return the sentence about text that cannot be read, where clearly fewer records can be read than real ones."""
    ours, real = (_find(findings, "readable", reference) for reference in ("none", "baseline"))
    if ours is None or not unreadable(findings):
        return []
    beside = "" if real is None else f", of real records that nobody used {show('readable', real.value)}"
    text = (
        f"Readability: only {show('readable', ours.value)} of the synthetic records can be read{beside}. "
        "This text repeats nothing because it says nothing."
    )
    return [Sentence(text, "unsure", "readable")]


def _hollow(sentence: Sentence) -> Sentence:
    """Return a sentence that finds no leak, with what it is worth for text that says nothing."""
    if sentence.level not in ("chance", "unsure"):
        return sentence
    text = f"{sentence.text} This text repeats nothing because it says nothing, so that proves little."
    return Sentence(text, "unsure", sentence.finding, sentence.more)


def _details(findings: Sequence[Finding]) -> list[Sentence]:
    """Return a sentence about details linked or guessed where one stands out, all of them looked at together."""
    clear, grown = [], wider(len(_DETAILS))
    for name, words in _DETAILS:
        found = _find(findings, f"{name}_excess", "holdout")
        if found is not None and found.low is not None and found.value - grown * (found.value - found.low) > 0:
            clear.append((name, words))
    return [_leaked(findings, "Details of people", clear)] if clear else []


def ranked(sentences: Sequence[Sentence]) -> list[Sentence]:
    """Return what is serious first: a broken claim, leaks, what a person has to look at, what cannot be told, the rest.

    The claim comes last.
    """

    def place(sentence: Sentence) -> int:
        if sentence.finding == "guarantee":
            return 0 if sentence.level == "leak" else 6
        if sentence.look:
            return 2
        return {"leak": 1, "slight": 3, "unsure": 3, "unknown": 4}.get(sentence.level, 5)

    return sorted(sentences, key=place)


def _leaked(findings: Sequence[Finding], title: str, known: Sequence[tuple[str, str]]) -> Sentence:
    """Return the sentence about the first measure that stands out, else about the first that was measured."""
    measured = [(name, words) for name, words in known if _find(findings, name, "train") is not None]
    if not measured:
        return Sentence(f"{title}: not measured.", "unknown", known[0][0])
    levels = {name: stands_out(findings, name) for name, _ in measured}
    clear = [name for name in levels if levels[name] == "leak" and _clear_among(findings, name, len(measured))]
    name, words = next((pair for pair in measured if pair[0] in clear), _spoken_of(measured, levels))
    level, says = levels[name], _SAYS[levels[name]]
    if level == "leak" and name not in clear:
        level, says = "unsure", f"one of {len(measured)} measures looked at together, so too little to tell from chance"
    if level == "leak" and name == NEAREST and _small(findings):
        level, says = "slight", _SAYS["slight"]
    nothing = level == "unsure" and _nothing_seen(findings, tuple(levels))
    if nothing:
        says = f"no more was seen than chance gives; {_not_excluded(findings, name)}"
    beside: Reference = "baseline" if name == OWN_SOURCE else "holdout"
    train, holdout = _find(findings, name, "train"), _find(findings, name, beside)
    assert train is not None
    if holdout is None or level == "unknown":
        return Sentence(f"{title}: {_by_itself(words, name, train)}; {says}.", "unsure", name, _set_aside(train))
    equal = train.settings.get("equal_size_value")
    both = words.format(
        ours=show(name, train.value if equal is None else equal), theirs=show(name, holdout.value),
        size=_records(findings, name, holdout),
    )  # fmt: skip
    all_used = "" if equal in (None, train.value) else f" ({show(name, train.value)} against all that was used)"
    brief = f"{title}: {_shared(name, train.value if equal is None else equal)} against "
    brief += f"{show(name, holdout.value)} by chance{all_used}"
    brief += f"{'; ' + _not_excluded(findings, name) if nothing else ''}."
    real = _find(findings, name, "baseline")
    if name in COPIES and real is not None and _more_than_real(findings, name):
        said = _ALL_COPIES[name].format(ours=show(name, train.value), theirs=show(name, real.value))
        brief = f"{title}: {_shared(name, train.value)}, of real ones nobody used in {show(name, real.value)}."
        return Sentence(f"{title}: {said}: {_SAYS['leak']}.", "leak", name, f"At equal numbers: {both}.", brief)
    against = f"Against all training records: {show(name, train.value)}."
    whole = [line for line in ("" if equal in (None, train.value) else against, _set_aside(train)) if line]
    lead = _lead(findings, name)
    if lead == CANNOT:
        excess = _find(findings, f"{name}_excess", "holdout")
        assert excess is not None
        ends = f"{show(excess.name, excess.low or 0.0)} to {show(excess.name, excess.high or 0.0)}"
        more = f"At equal numbers {both}; the 95% interval of the difference is {ends}. {_set_aside(train)}"
        said = (
            f"{_by_itself(words, name, train, ends=False)}; how much of it is chance cannot be told from so few records"
        )
        brief = f"{title}: {_shared(name, train.value)}; how much of it is chance cannot be told."
        return Sentence(f"{title}: {said}.", level, name, more.strip(), brief)
    if lead:
        further = (f"{both[0].upper()}{both[1:]}.", _difference(findings, name), *whole)
        more = "\n".join(line for line in further if line)
        return Sentence(f"{title}{lead}: {says}.", level, name, more, brief, nothing)
    return Sentence(f"{title}: {both}: {says}.", level, name, "\n".join(whole), brief, nothing)


def _spoken_of(measured: Sequence[tuple[str, str]], levels: Mapping[str, Level]) -> tuple[str, str]:
    """Return the measure to speak of where none stands out: the first, or what one person alone has if that is unsure.

    Values that several people have are held against a cut of the training part, which sees few leaks where few were set
    aside; so the first measure says chance only together with the one that sees all.
    """
    if levels[measured[0][0]] != "chance":
        return measured[0]
    return next((pair for pair in measured if pair[0] == ONE_PERSON and levels[ONE_PERSON] != "chance"), measured[0])


def _nothing_seen(findings: Sequence[Finding], names: Sequence[str]) -> bool:
    """Return whether none of these measures exceeds the holdout visibly, or could by much.

    A measure without an excess shows nothing where it is no more than chance, or was compared with nothing. A cut of
    the holdout's size sees few copies of a large training part: these have to be rare among all records used too.
    """
    whole = (_find(findings, name, "train") for name in names if name in COPIES)
    if any(found is None or found.value > NEGLIGIBLE for found in whole):
        return False
    return all(
        stands_out(findings, name) in ("chance", "unknown") if excess is None
        else excess.low is not None and excess.high is not None and excess.low <= 0 and excess.low < excess.high
        and excess.value <= NEGLIGIBLE and excess.high <= BARELY
        for name in names for excess in (_find(findings, f"{name}_excess", "holdout"),)
    )  # fmt: skip


def _not_excluded(findings: Sequence[Finding], name: str) -> str:
    """Return up to which excess nothing can be excluded with so few records; empty where that is not known."""
    excess = _find(findings, f"{name}_excess", "holdout")
    if excess is None or excess.high is None:
        return ""
    return f"up to {show(excess.name, excess.high)} more cannot be excluded with so few records"


def _shared(name: str, value: float) -> str:
    """Return a share with what it counts and what it is of in few words; what is no share by itself."""
    if name == NEAREST:
        return f"the nearest record lies at {show(name, value)}, where 1 is the same text,"
    if name not in _BRIEFLY:
        return show(name, value)
    of = {"strict_elp": "their values", "canary_echo": "the canaries"}.get(name, "records")
    return f"{_BRIEFLY[name]} {show(name, value)} of {of}"


def _small(findings: Sequence[Finding]) -> bool:
    """Return whether closeness exceeds the holdout's by little at most: few close copies are counted as copies."""
    excess = _find(findings, f"{NEAREST}_excess", "holdout")
    return excess is not None and excess.high is not None and excess.high <= NEGLIGIBLE


def _by_itself(words: str, name: str, train: Finding, *, ends: bool = True) -> str:
    """Return what was measured against the whole training part, by itself; `ends`: with its interval."""
    alone = words[: words.rindex(",", 0, words.index("{theirs}"))]
    for size in ("of {size} training", "from {size} training"):
        alone = alone.replace(size, size.replace("{size}", "the"))
    interval = "" if train.low is None or train.high is None or not ends else (
        f" (95% interval {show(name, train.low)} to {show(name, train.high)})"
    )  # fmt: skip
    return alone.format(ours=show(name, train.value) + interval)


def _set_aside(found: Finding) -> str:
    """Return how many values were not counted because many people share them, by type; empty where none was."""
    count, types = found.settings.get("set_aside"), as_object(found.settings.get("set_aside_types"))
    if not count:
        return ""
    named = ", ".join(f"{LABELS[label][0] if label in LABELS else label.lower()} {n}" for label, n in types.items())
    one = count == 1
    direct = int(found.settings.get("set_aside_direct") or 0)
    point = "points" if direct == 1 else "point"
    more = f" {direct} of them {point} at somebody directly: look in Review." if direct else ""
    return (
        f"Not counted: {count:,} {'value' if one else 'values'} ({named}) in the records of more than one person in "
        f"ten, so alone {'it tells' if one else 'they tell'} nobody apart.{more}"
    )


def _clear_among(findings: Sequence[Finding], name: str, measures: int) -> bool:
    """Return whether a measure's excess stays above 0 where its interval is to hold with those beside it."""
    if name in COPIES and _more_than_real(findings, name):
        return True
    excess = _find(findings, f"{name}_excess", "holdout")
    if excess is None or excess.low is None:
        return True  # its two shares are apart by more than both intervals
    return excess.value - wider(measures) * (excess.value - excess.low) > 0


def _lead(findings: Sequence[Finding], name: str) -> str:
    """Return the excess over the holdout with its interval, for shares of identifiers: it stands for the shares."""
    excess = _find(findings, f"{name}_excess", "holdout") if name in dict(_IDENTIFIERS) else None
    if excess is None or excess.low is None or excess.high is None:
        return ""
    if too_wide(excess.name, excess.low, excess.high):
        return CANNOT
    ours = _equal_share(findings, name)
    theirs = _find(findings, name, "holdout")
    beside = "" if ours is None or theirs is None else f" ({show(name, ours)} against {show(name, theirs.value)})"
    often = "more often than" if excess.value > 0 else "less often than"
    if abs(excess.value) <= NEGLIGIBLE and excess.low <= 0 <= excess.high:
        often = "about as often as"
    return f": the text gives away values of records used {often} of records nobody used{beside}"


def _equal_share(findings: Sequence[Finding], name: str) -> float | None:
    """Return the share against as many training records as the holdout has, else against all of them."""
    train = _find(findings, name, "train")
    if train is None:
        return None
    equal = train.settings.get("equal_size_value")
    return train.value if equal is None else float(equal)


def _difference(findings: Sequence[Finding], name: str) -> str:
    """Return the excess with its interval as a sentence."""
    excess = _find(findings, f"{name}_excess", "holdout")
    if excess is None or excess.low is None or excess.high is None:
        return ""
    ends = f" (95% interval {show(excess.name, excess.low)} to {show(excess.name, excess.high)})"
    return f"Difference: {show(excess.name, excess.value)}{ends if excess.low < excess.high else ''}."


def _records(findings: Sequence[Finding], name: str, holdout: Finding) -> str:
    """Return how many records of each part were compared."""
    parent = name.removesuffix("_direct")
    for found in (_find(findings, f"{parent}_excess", "holdout"), holdout):
        size = None if found is None else found.settings.get("reference_records")
        if size:
            return f"{int(size):,}"
    return "equally many"


def formal(guarantee: JSONObject, violations: Sequence[str] = ()) -> Sentence:
    """Return the sentence about what is proven, and whether an attack passes it."""
    epsilon, delta = guarantee.get("epsilon"), guarantee.get("delta")
    if guarantee.get("kind") != "dp" or not isinstance(epsilon, int | float):
        return Sentence(
            "Formal claim: nothing is proven about this method. A better attack could find more than these did.",
            "no proof", "guarantee",
        )  # fmt: skip
    if epsilon == 0 and not violations:
        return Sentence("Formal claim: ε = 0. No private record went into this text.", "proof", "guarantee")
    unit = "person whose records these are" if guarantee.get("unit") == "source" else "record"
    allowed = upward(delta if isinstance(delta, float) else 0.0, 2)
    claim = f"Formal claim: ε = {upward(epsilon)} at δ = {allowed} for each {unit}"
    if violations:
        return Sentence(
            f"{claim} cannot hold: “{violations[0]}” finds more than it allows. Do not release before this is "
            "explained.", "leak", "guarantee",
        )  # fmt: skip
    return Sentence(f"{claim}, whatever an attacker knows or tries; no attack passed it.", "proof", "guarantee")
