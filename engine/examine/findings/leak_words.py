"""Words of the verdict on leakage: of each measure what its two shares count, at length and in short.

`{ours}` and `{theirs}` are the shares, `{size}` is how many records of each part were compared. The first measure of a
family that stands out is said, else the first that is known.
"""

from __future__ import annotations

from engine.examine.findings.levels import NEAREST, ONE_PERSON
from engine.examine.findings.sentence import NEGLIGIBLE, Level

SAYS: dict[Level, str] = {
    "leak": "more than chance explains",
    "slight": f"more than chance explains, but by {NEGLIGIBLE:g} on average at most",
    "unsure": "too few records to tell from chance",
    "chance": "no more than chance explains",
    "unknown": "there is no holdout that would tell how much of it is chance",
}
IDENTIFIERS = (
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
COPY_WORDS = (
    ("verbatim_8gram", "{ours} of the synthetic records repeat eight words in a row from {size} training records, "
     "{theirs} from as many records that nobody used"),
    ("near_copies_08", "{ours} of the synthetic records nearly repeat one of {size} training records, {theirs} one of "
     "as many records that nobody used"),
)  # fmt: skip
ALL_COPIES = {  # held against the whole training part: of the synthetic records, and of real ones
    "verbatim_8gram": "{ours} of the synthetic records repeat eight words in a row of the training records; of real "
    "records that nobody used only {theirs} do",
    "near_copies_08": "{ours} of the synthetic records nearly repeat a training record; of real records that nobody "
    "used only {theirs} do",
}
ALL_BRIEFLY = {
    "verbatim_8gram": "repeat eight words in a row of all that was used",
    "near_copies_08": "nearly repeat a record of all that was used",
}
BRIEFLY = {  # what a share counts, before it in a short line
    "strict_pipp": "a private value in", "strict_alone": "what one person alone has in",
    "strict_pipp_direct": "a direct identifier in", "strict_elp": "recognised are",
    "pipp": "a private entity in", "pipp_direct": "a direct identifier in", "pipp_context": "a word of the source in",
    "verbatim_8gram": "eight words in a row repeated in", "near_copies_08": "nearly repeated in",
    "canary_echo": "word for word", "linkage": "one person pointed to by", "detail_inference": "a detail guessed for",
    "attribute_inference": "the label guessed for",
}  # fmt: skip
TEXTS_THAT = {  # of shares of the synthetic texts: what these do, with whose records behind it
    "strict_pipp": "hold a private value", "strict_pipp_direct": "hold a direct identifier",
    "strict_alone": "hold what one person alone has", "pipp": "hold a private entity",
    "pipp_direct": "hold a direct identifier", "verbatim_8gram": "repeat eight words in a row",
    "near_copies_08": "nearly repeat one",
}  # fmt: skip
CLOSENESS = (
    (NEAREST, "on a scale on which 1 is the same text, the nearest of {size} training records lies at "
     "{ours} on average, the nearest of as many that nobody used at {theirs}"),
)  # fmt: skip
CANARIES = (
    ("canary_echo", "{ours} of the canaries planted among the records used stand in the text word for word, {theirs} "
     "of those that nobody used"),
)  # fmt: skip
DETAILS = (
    ("linkage", "details that together point to one person stand in one synthetic record for {ours} of the records "
     "used, for {theirs} of those nobody used"),
    ("detail_inference", "whoever knows the rest of a record guesses a missing detail, all kinds taken together, right "
     "for {ours} of the records used, for {theirs} of those nobody used"),
    ("attribute_inference", "whoever knows the text of a record guesses its label right for {ours} of the records "
     "used, for {theirs} of those nobody used"),
)  # fmt: skip
