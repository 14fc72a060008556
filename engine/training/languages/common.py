"""Write `common.txt.gz` of German: `python -m engine.training.languages.common --data FOLDER`.

Nouns that stand behind an indefinite word ("eine Tabelle") in novels (ELTeC, public domain) and spoken sentences
(Common Voice, CC0) often enough, nouns of the annotated training parts (Europeana, CC0; LER, CC BY 4.0) that name
nobody there, headings of decisions and letters, and words in small letters. Names of people and places, weekdays and
months are left out. The parts that tune and report are not read.
"""

from __future__ import annotations

import argparse
import gzip
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pandas as pd
import regex

from engine.assets import ASSETS
from engine.pii.languages.pack import pack
from engine.pii.languages.pools import read_pools
from engine.training.word_tagger.data import read_sets

CODE = "de"
STEMS = "ein kein jed dies mein dein sein ihr unser euer eur viel all welch solch manch mehrer einig"
BEFORE = "|".join(f"{stem}(?:e|en|em|er|es)?" for stem in STEMS.split())
NOUN = regex.compile(rf"\b(?i:{BEFORE}|zwei|drei|vier|fünf|sechs|zehn|hundert|tausend) (\p{{Lu}}\p{{Ll}}{{2,}})\b")
CAPITAL = regex.compile(r"\b\p{Lu}\p{Ll}{2,}\b")
INSIDE = regex.compile(r"(?<=[\p{Ll},] )\p{Lu}\p{Ll}{2,}\b")
SMALL = regex.compile(r"(?<![\p{L}\p{M}’'-])\p{Ll}{2,}(?![\p{L}’'-])")
HEADINGS = (
    "Gründe Urteil Beschluss Entscheidungsgründe Leitsatz Leitsätze Rubrum Tatbestand Anamnese Befund Befunde Diagnose "
    "Diagnosen Therapie Verlauf Epikrise Medikation Labor Beurteilung Empfehlung Entlassbrief Arztbrief Bericht Anlage"
).split()
LEAST_NOUN, LEAST_SHARE = 3, 0.05  # times behind an indefinite word, and of all times
LEAST_PLAIN, MOST_NAMED = 2, 0.05  # times in annotated text without being a name, and share of times as one
LEAST_SMALL = 15


def texts_of(data: Path) -> list[str]:
    """Return public texts: spoken sentences and novels."""
    return [
        str(text)
        for name in ("commonvoice_de", "eltec_deu")
        for text in pd.read_parquet(data / "lm" / f"{name}.parquet", columns=["text"])["text"]
    ]


def listed(texts: Iterable[str]) -> tuple[set[str], set[str]]:
    """Return (nouns, words in small letters) of public texts."""
    behind: Counter[str] = Counter()
    capital: Counter[str] = Counter()
    small: Counter[str] = Counter()
    for text in texts:
        behind.update(NOUN.findall(text))
        capital.update(CAPITAL.findall(text))
        small.update(SMALL.findall(text))
    nouns = {w for w, n in behind.items() if n >= LEAST_NOUN and n / capital[w] >= LEAST_SHARE}
    return nouns, {w for w, n in small.items() if n >= LEAST_SMALL}


def annotated(data: Path) -> tuple[Counter[str], Counter[str]]:
    """Return how often words stand in annotated spans and, inside of sentences, outside of them."""
    inside: Counter[str] = Counter()
    outside: Counter[str] = Counter()
    for document in read_sets(data / "ner", "train"):
        if document.language == CODE and document.source != "ler_dates_de":
            held = bytearray(len(document.text))
            for start, end, _ in document.spans:
                held[start:end] = b"\1" * (end - start)
            inside.update(m.group() for m in CAPITAL.finditer(document.text) if held[m.start()])
            outside.update(m.group() for m in INSIDE.finditer(document.text) if not held[m.start()])
    return inside, outside


def taken() -> set[str]:
    """Return the words that are names of people or places, and those of dates with their endings."""
    pools, data = read_pools(CODE), pack(CODE).data
    names = (*pools.forenames, *pools.surnames, *(t.name for t in pools.towns), *pools.regions)
    dates = (*data.months, *data.weekdays, "Jänner", "Feber")
    words = {word for name in names for word in regex.split(r"[ -]", name)}
    return words | {date + ending for date in dates for ending in ("", "s", "e", "en")}


def main() -> int:
    """Write the list."""
    parser = argparse.ArgumentParser(prog="python -m engine.training.languages.common", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with lm/ and ner/")
    parser.add_argument("--out", type=Path, default=ASSETS / "languages" / CODE / "common.txt.gz")
    args = parser.parse_args()
    nouns, small = listed(texts_of(args.data))
    inside, outside = annotated(args.data)
    nouns |= {w for w, n in outside.items() if n >= LEAST_PLAIN and not inside[w]}
    kept = {w for w in nouns - taken() if inside[w] <= MOST_NAMED * outside[w]} | small | set(HEADINGS)
    args.out.write_bytes(gzip.compress(("\n".join(sorted(kept)) + "\n").encode("utf-8"), 9, mtime=0))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
