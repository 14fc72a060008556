"""What a custodian reads on the card of a method: plain words, no term, no source; these stand in its details."""

from __future__ import annotations

from dataclasses import dataclass

import engine


@dataclass(frozen=True)
class Card:
    """A method's face: name, what it does, what it is good for and what to mind; clauses end with a full stop."""

    name: str
    does: str
    good: str
    mind: str
    inside_only: bool = False


CARDS: dict[str, Card] = {
    "surrogate": Card(
        "Replace what identifies",
        "Keeps each text and puts invented names, places and dates where the real ones stood.",
        "The truest wording, for people who may see the rest of the text.",
        "What was missed in the review stays, and a story can identify by itself.",
    ),
    "filter": Card(
        "Write anew, then filter",
        "Takes identifiers out, has a language model write a new text, and checks the result for leftovers.",
        "Readable stand-ins where names and numbers are the main worry.",
        "A rare story can still be recognised.",
    ),
    "icl": Card(
        "Imitate examples, unprotected",
        "Shows the model three private records and asks for another like them.",
        "Seeing what the protected ways of imitating cost.",
        "The model may copy private text word for word.",
        inside_only=True,
    ),
    "control-icl": Card(
        "Imitate examples with invented names",
        "Shows the model three private records and asks for a text about an invented list of names and places.",
        "Texts in the records' manner, where a few copied details do no harm.",
        "The model may copy sentences and even real identifiers.",
    ),
    "control-icl-blocked": Card(
        "Imitate examples, real names refused",
        "As the invented names, but each real name, number or place that was found is refused while the model writes.",
        "Readable texts in which no identifier that was found can stand.",
        "Identifiers that nobody found, and stories that identify.",
    ),
    "control-prefix": Card(
        "Learn the manner",
        "Teaches a small addition to the model how such records are written, then writes about invented names.",
        "The records' manner without showing the model any record while it writes.",
        "The addition has read private text and may repeat it.",
    ),
    "control-prefix-masked": Card(
        "Learn the manner, not the names",
        "As learning the manner, but taught to avoid each name, number or place that was found.",
        "Learned texts in which identifiers that were found should leave no trace.",
        "Identifiers that nobody found, and stories that identify.",
    ),
    "public": Card(
        "Without private text",
        "Has the model write from the kind of document and a length alone. No private record is read.",
        "A yardstick: what the others take from the records is seen beside it.",
        "It cannot stand in for the records: it knows nothing about them.",
    ),
    "aug-pe": Card(
        "Votes on invented texts",
        "A model writes candidates without any record; the records score them, under noise, and the best are kept.",
        "A proof with any model that writes this kind of text.",
        "With few people noise outweighs the scores.",
    ),
    "dpga": Card(
        "Votes, with lengths and key words",
        "Buys labels, lengths and key words under noise, then lets the records vote on texts made from them.",
        "A proof, and lengths and subjects nearer to the records.",
        "Half of the budget is spent before the first vote: thousands of people are needed.",
    ),
    "dp-select": Card(
        "Choose from texts made elsewhere",
        "The records vote, under noise, for texts of a pool that people or a larger model made.",
        "A proof and whole, readable texts without a large model here.",
        "Only what the pool holds can be chosen; a pool has to be brought in.",
    ),
    "finetune": Card(
        "Train a model, unprotected",
        "Trains a language model on the records and has it write new ones.",
        "Seeing how near a model can come to the records.",
        "A trained model repeats what it has read.",
        inside_only=True,
    ),
    "goldfish": Card(
        "Train a model with gaps",
        "Trains a language model on the records but hides every fourth piece of a word from it.",
        "Fewer long copies than plain training, at nearly the same quality.",
        "Short secrets, such as a name between two gaps, are learned.",
    ),
    "dp-finetune": Card(
        "Train a model under noise",
        "Trains a language model on the records so that no one person moves it by more than the noise hides.",
        "A proof, in the records' own manner, with thousands of people.",
        "Small corpora learn nothing but noise; it takes hours.",
    ),
    "dp-topics": Card(
        "Count topics, then write",
        "Counts once, under noise, how often each public topic, length and label occurs, and writes texts from these.",
        "A proof for some hundreds of people: takes the fewest.",
        "The wording is the model's own; rare topics are not seen.",
    ),
    "dp-steer": Card(
        "Steer a model",
        "A model reads the records once; how they differ from its own texts, under noise, moves all that it writes.",
        "A proof for some hundreds of people and any number of texts.",
        "Moves the manner, not single subjects; the built-in model comes nearer, never near.",
    ),
    "private-prediction": Card(
        "Word by word from many records",
        "Lets a batch of records choose each next word together, so that no one person decides it.",
        "A proof and no training, near to the records' wording.",
        "Few and short texts: each takes dozens of records.",
    ),
    "rpsg": Card(
        "Outline a record, write anew",
        "Outlines a record, chooses among outlines under noise, writes a new text and drops what is too near.",
        "Texts near to single records, for readers who may know what these say.",
        "The noise covers a choice, not the text: no bound holds for what leaves.",
    ),
    "rpsg-public": Card(
        "One vote on invented texts",
        "A model invents candidates without any record; each record votes once, under noise; winners are rewritten.",
        "A proof, where many records tell similar things.",
        "What the model cannot invent cannot be chosen.",
    ),
    "paid-choice": Card(
        "Choose the best of several runs",
        "The records choose, under noise, the finished run whose texts are nearest to theirs.",
        "Taking the better of several runs without losing their proof.",
        "Every run that took part counts; with few people, or runs that are alike, the noise chooses.",
    ),
    "rewrite": Card(
        "Rewrite until a judge is content",
        "A model rewrites each text and another asks whether it can still be traced, up to five times.",
        "One rewritten text a record, for inside use.",
        "A judge that fails to trace a text proves nothing; needs a capable model.",
    ),
}

GROUPS: dict[str, str] = {  # what is promised -> the heading of its group
    "dp": "A proven bound for everyone in the data",
    "heuristic": "Nothing proven: identifiers are taken out, leaks are measured",
    "selection-only": "A noisy choice, no bound",
    "inside": "For comparison inside only: never for release",
}
FACES: dict[str, tuple[str, str]] = {  # what is promised -> the words on the card, and its tone
    "dp": ("Proven bound", "proof"),
    "heuristic": ("Nothing proven", "open"),
    "selection-only": ("Noisy choice, no bound", "choice"),
    "inside": ("Inside only", "inside"),
}
NEEDS = {
    "spans": "findings",
    "instruct": "a model that follows instructions",
    "pool": "a pool of texts",
    "runs": "two finished runs with a proof",
    "sentiment": "a sentiment model",
    "classifier": "a classifier",
}


def group_of(spec: engine.MethodSpec) -> str:
    """Return under which promise a method stands."""
    if card_of(spec).inside_only:
        return "inside"
    return "heuristic" if spec.kind == "none" else spec.kind


def card_of(spec: engine.MethodSpec) -> Card:
    """Return the words of a method's card, also behind the filter; the specification's own where there are none."""
    known = CARDS.get(spec.id.removeprefix("filter:"))
    return known or Card(spec.title, spec.summary, spec.good_for, spec.bad_for)
