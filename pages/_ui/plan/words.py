"""What a custodian reads on the card of a method: plain words, no term, no source; these stand in its details."""

from __future__ import annotations

from dataclasses import dataclass

import engine
from pages._ui.language import mark, tr


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
        mark("Replace what identifies"),
        mark("Keeps each text and puts invented names, places and dates where the real ones stood."),
        mark("The truest wording, for people who may see the rest of the text."),
        mark("What was missed in the review stays, and a story can identify by itself."),
    ),
    "filter": Card(
        mark("Write anew, then filter"),
        mark("Takes identifiers out, has a language model write a new text, and checks the result for leftovers."),
        mark("Readable stand-ins where names and numbers are the main worry."),
        mark("A rare story can still be recognised."),
    ),
    "icl": Card(
        mark("Imitate examples, unprotected"),
        mark("Shows the model three private records and asks for another like them."),
        mark("Seeing what the protected ways of imitating cost."),
        mark("The model may copy private text word for word."),
        inside_only=True,
    ),
    "control-icl": Card(
        mark("Imitate examples with invented names"),
        mark("Shows the model three private records and asks for a text about an invented list of names and places."),
        mark("Texts in the records' manner, where a few copied details do no harm."),
        mark("The model may copy sentences and even real identifiers."),
    ),
    "control-icl-blocked": Card(
        mark("Imitate examples, real names refused"),
        mark(
            "Shows the model three private records; each real name, number or place that was found is refused while "
            "it writes."
        ),
        mark("Readable texts in which no identifier that was found can stand."),
        mark("Identifiers that nobody found, and stories that identify."),
    ),
    "control-prefix": Card(
        mark("Learn the manner"),
        mark("Teaches a small addition to the model how such records are written, then writes about invented names."),
        mark("The records' manner without showing the model any record while it writes."),
        mark("The addition has read private text and may repeat it."),
    ),
    "control-prefix-masked": Card(
        mark("Learn the manner, not the names"),
        mark(
            "Teaches a small addition to the model how such records are written, and to avoid each name, number or "
            "place that was found."
        ),
        mark("Learned texts in which identifiers that were found should leave no trace."),
        mark("Identifiers that nobody found, and stories that identify."),
    ),
    "public": Card(
        mark("Without private text"),
        mark("Has the model write from the kind of document and a length alone. No private record is read."),
        mark("A yardstick: what the others take from the records is seen beside it."),
        mark("It cannot stand in for the records: it knows nothing about them."),
    ),
    "aug-pe": Card(
        mark("Votes on invented texts"),
        mark(
            "A model writes candidates without any record; the records score them, under noise, and the best are kept."
        ),
        mark("A proof with any model that writes this kind of text."),
        mark("With few people noise outweighs the scores."),
    ),
    "dpga": Card(
        mark("Votes, with lengths and key words"),
        mark("Buys labels, lengths and key words under noise, then lets the records vote on texts made from them."),
        mark("A proof, and lengths and subjects nearer to the records."),
        mark("Half of the budget is spent before the first vote, so it takes many more people."),
    ),
    "dp-select": Card(
        mark("Choose from texts made elsewhere"),
        mark("The records vote, under noise, for texts of a pool that people or a larger model made."),
        mark("A proof and whole, readable texts without a large model here."),
        mark("Only what the pool holds can be chosen; a pool has to be brought in."),
    ),
    "finetune": Card(
        mark("Train a model, unprotected"),
        mark("Trains a language model on the records and has it write new ones."),
        mark("Seeing how near a model can come to the records."),
        mark("A trained model repeats what it has read."),
        inside_only=True,
    ),
    "goldfish": Card(
        mark("Train a model with gaps"),
        mark("Trains a language model on the records but hides every fourth piece of a word from it."),
        mark("Fewer long copies than plain training, at nearly the same quality."),
        mark("Short secrets, such as a name between two gaps, are learned."),
    ),
    "dp-finetune": Card(
        mark("Train a model under noise"),
        mark("Trains a language model on the records so that no one person moves it by more than the noise hides."),
        mark("A proof, in the records' own manner, where people are many."),
        mark("Small corpora learn nothing but noise; it takes hours."),
    ),
    "dp-topics": Card(
        mark("Count topics, then write"),
        mark(
            "Counts once, under noise, how often each public topic, length and label occurs, and writes texts from "
            "these."
        ),
        mark("A proof, and texts about the subjects that many records share."),
        mark("The wording is the model's own; rare topics are not seen."),
    ),
    "dp-steer": Card(
        mark("Steer a model"),
        mark(
            "A model reads the records once; how they differ from its own texts, under noise, moves all that it writes."
        ),
        mark("A proof, and any number of texts in the records' manner."),
        mark("Moves the manner, not single subjects; the built-in model comes nearer, never near."),
    ),
    "private-prediction": Card(
        mark("Word by word from many records"),
        mark("Lets a batch of records choose each next word together, so that no one person decides it."),
        mark("A proof and no training, near to the records' wording."),
        mark("Few and short texts: each takes dozens of records."),
    ),
    "rpsg": Card(
        mark("Outline a record, write anew"),
        mark("Outlines a record, chooses among outlines under noise, writes a new text and drops what is too near."),
        mark("Texts near to single records, for readers who may know what these say."),
        mark("The noise covers a choice, not the text: no bound holds for what leaves."),
    ),
    "rpsg-public": Card(
        mark("One vote on invented texts"),
        mark(
            "A model invents candidates without any record; each record votes once, under noise; winners are rewritten."
        ),
        mark("A proof, where many records tell similar things."),
        mark("What the model cannot invent cannot be chosen."),
    ),
    "paid-choice": Card(
        mark("Choose the best of several runs"),
        mark("The records choose, under noise, the finished run whose texts are nearest to theirs."),
        mark("Taking the better of several runs without losing their proof."),
        mark("Every run that took part counts; with few people, or runs that are alike, the noise chooses."),
    ),
    "rewrite": Card(
        mark("Rewrite until a judge is content"),
        mark("A model rewrites each text and another asks whether it can still be traced, up to five times."),
        mark("One rewritten text a record, for inside use."),
        mark("A judge that fails to trace a text proves nothing; needs a capable model."),
    ),
}

GROUPS: dict[str, str] = {  # what is promised -> the heading of its group
    "dp": mark("A proven bound for everyone in the data"),
    "heuristic": mark("Nothing proven: identifiers are taken out, leaks are measured"),
    "selection-only": mark("A noisy choice, no bound"),
    "inside": mark("For comparison inside only: never for release"),
}
FACES: dict[str, tuple[str, str]] = {  # what is promised -> the words on the card, and its tone
    "dp": (mark("Proven bound"), "proof"),
    "heuristic": (mark("Nothing proven"), "open"),
    "selection-only": (mark("Noisy choice, no bound"), "choice"),
    "inside": (mark("Inside only"), "inside"),
}
NEEDS = {
    "spans": mark("a search for identifiers"),
    "instruct": mark("a model that follows instructions"),
    "pool": mark("a pool of texts"),
    "runs": mark("two finished runs with a proof"),
    "sentiment": mark("a sentiment model"),
    "classifier": mark("a classifier"),
}


def group_of(spec: engine.MethodSpec) -> str:
    """Return under which promise a method stands."""
    if card_of(spec).inside_only:
        return "inside"
    return "heuristic" if spec.kind == "none" else spec.kind


def names() -> dict[str, str]:
    """Return what each method is called on its card, by id: the one name that every page says."""
    return {method: tr(card.name) for method, card in CARDS.items()}


def card_of(spec: engine.MethodSpec) -> Card:
    """Return the words of a method's card, also behind the filter; the specification's own where there are none."""
    known = CARDS.get(spec.id.removeprefix("filter:"))
    if known is None:
        return Card(spec.title, spec.summary, spec.good_for, spec.bad_for)
    return Card(tr(known.name), tr(known.does), tr(known.good), tr(known.mind), known.inside_only)
