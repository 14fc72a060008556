"""Measure detection in other languages: `python -m engine.training.word_tagger.measure --data FOLDER [--folder F]`.

Recall of mentions by type (a mention counts where every letter and digit of it is masked, whatever the type) and
precision of words (masked words that stand in an annotated mention), by language and set, with bootstrap intervals
over documents. Thresholds are set on the tuning part (`--tune`); what is printed otherwise is the reporting part.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import regex
import torch

from engine.models.builtin.tagger.tagger import TYPES
from engine.models.builtin.tagger.tagger_spans import spans_of
from engine.models.builtin.tagger.word_tagger import words_in
from engine.models.builtin.tagger.word_tagger_run import WordTagger, load_word_tagger
from engine.pii.detect.detector import RecordDetector
from engine.pii.detect.settings import DetectorSettings
from engine.pii.spans import Span
from engine.training.word_tagger.data import ANY, Document, read_measured, read_sets

WORD = regex.compile(r"\w+")
DRAWS = 1_000
GRID = (0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
PRECISE = 0.65  # words' precision a threshold must keep on the tuning part
KIND = {"ADDRESS": "LOCATION", "AGE": "OTHER", "QUANTITY": "OTHER", "DEMOGRAPHIC": "OTHER", "MISC": "OTHER"}


@dataclass
class Counts:
    """Hits and totals of one document (or block of sentences) by what is measured."""

    hits: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    of: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, what: str, hit: bool) -> None:
        """Count one case."""
        self.hits[what] += hit
        self.of[what] += 1


def kind(label: str) -> str:
    """Return the type that a detected label is compared as; numbers of every sort are codes."""
    return KIND.get(label, label if label in {"PERSON", "LOCATION", "ORGANISATION", "DATE"} else "CODE")


def counted(document: Document, found: Sequence[tuple[int, int, str]], counts: Counts) -> None:
    """Count one text's mentions and masked words; what its source does not annotate is left out."""
    text = document.text
    masked = bytearray(len(text))
    shown = bytearray(len(text))  # 1 annotated, 2 may be anything
    for start, end, label in document.spans:
        shown[start:end] = (b"\x02" if label == ANY else b"\x01") * (end - start)
    for start, end, _ in found:
        masked[start:end] = b"\x01" * (end - start)
    for start, end, label in document.spans:
        if label != ANY:
            counts.add(label, all(masked[i] or not text[i].isalnum() for i in range(start, end)))
    for start, end, label in found:
        if kind(label) in document.types:
            for match in WORD.finditer(text, start, end):
                if 2 not in shown[match.start() : match.end()]:
                    right = 1 in shown[match.start() : match.end()]
                    counts.add("words", right)
                    counts.add(f"words {kind(label)}", right)


def table(blocks: Iterable[Counts]) -> dict[str, dict[str, float]]:
    """Return value, low, high and n of each thing counted; intervals by bootstrap over the blocks."""
    rows = list(blocks)
    rng = np.random.default_rng(7)
    draws = rng.integers(0, len(rows), (DRAWS, len(rows)))
    out = {}
    for what in sorted({k for r in rows for k in r.of}):
        hits = np.array([r.hits.get(what, 0) for r in rows])
        of = np.array([r.of.get(what, 0) for r in rows])
        total = of[draws].sum(1)
        shares = hits[draws].sum(1)[total > 0] / total[total > 0]
        low, high = np.quantile(shares, (0.025, 0.975))
        values = (hits.sum() / of.sum(), low, high)
        out[what] = dict(zip(("value", "low", "high"), (round(float(v), 4) for v in values))) | {"n": int(of.sum())}
    return out


def measured(
    documents: Sequence[Document], found: Sequence[Sequence[tuple[int, int, str]]]
) -> dict[str, dict[str, dict[str, float]]]:
    """Return tables by language and by set."""
    by: dict[str, dict[str, Counts]] = defaultdict(lambda: defaultdict(Counts))
    for document, spans in zip(documents, found):
        name = document.source.split("/")[0]
        for group in (f"set {name}", f"language {document.language}"):
            counted(document, spans, by[group][document.source])
    return {group: table(blocks.values()) for group, blocks in sorted(by.items())}


def tagged(tagger: WordTagger, documents: Sequence[Document]) -> list[list[tuple[int, int, str]]]:
    """Return the accepted spans of the tagger alone."""
    rows = tagger.tag([d.text for d in documents])
    return [[(s.start, s.end, s.label) for s in row if s.score >= 0.5] for row in rows]


def detected(documents: Sequence[Document], tagger: bool = True) -> list[list[tuple[int, int, str]]]:
    """Return the accepted spans of the whole detector, the language of each text given."""
    detector = RecordDetector(DetectorSettings(tagger=tagger))
    rows: list[list[Span]] = []
    for at in range(0, len(documents), 64):
        some = documents[at : at + 64]
        rows += detector.find([d.text for d in some], languages=[d.language for d in some])
    return [[(s.start, s.end, s.label) for s in row if s.score >= 0.5] for row in rows]


def tuned(tagger: WordTagger, documents: Sequence[Document]) -> dict[str, float]:
    """Return for each type the lowest threshold of the grid that keeps the words' precision."""
    texts = [d.text for d in documents]
    pieces = [words_in(t) for t in texts]
    found = tagger.probabilities(texts, pieces)
    best = dict.fromkeys(TYPES[:5], GRID[-1])
    for value in reversed(GRID):
        thresholds = np.array([value if t in best else 1.0 for t in TYPES], dtype=np.float32)
        counts = Counts()
        for document, own, odds in zip(documents, pieces, found):
            spans = [s for s in spans_of(document.text, own, odds, thresholds) if s.score >= 0.5]
            counted(document, [(s.start, s.end, s.label) for s in spans], counts)
        for t in best:
            of = counts.of.get(f"words {t}", 0)
            if of and counts.hits[f"words {t}"] / of >= PRECISE:
                best[t] = value
    return best


SHOWN = {
    "et": (("language et", "news and social media"),),
    "de": (
        ("set ler_dev_de", "court decisions, persons as initials"),
        ("set europeana_de", "newspapers of the 19th century, letters misread"),
    ),
    "es": (("set meddocan", "clinical cases with invented data"),),
    "fr": (("set europeana_fr", "newspapers of the 19th century, letters misread"),),
    "sv": (("set webbnyheter_sv", "news"), ("set uner_swedish-talbanken_sv_BYSA", "news and web, not trained on")),
    "nl": (("set europeana_nl", "newspapers of the 19th century, letters misread"),),
    "pt": (
        ("set lener_br_pt", "court decisions of Brazil"),
        ("set uner_portuguese-bosque_pt_BYSA", "news, not trained on"),
    ),
}
NAMES = {"PERSON": "persons", "LOCATION": "places", "ORGANISATION": "organisations", "DATE": "dates", "CODE": "codes"}


def shown(tables: dict[str, dict[str, dict[str, float]]]) -> dict[str, list[dict[str, object]]]:
    """Return what a page shows of each language, from the tables of the whole detector."""
    out: dict[str, list[dict[str, object]]] = {}
    for code, groups in SHOWN.items():
        for group, source in groups:
            rows = tables.get(group, {})
            for what, name in (*NAMES.items(), ("words", "precision")):
                if what in rows:
                    out.setdefault(code, []).append({"what": name, **rows[what], "source": source})
    return out


def main() -> int:
    """Tune thresholds, or print the tables of the reporting part as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--folder", type=Path, default=None, help="a tagger's folder other than the built-in one")
    parser.add_argument("--tune", action="store_true", help="set the thresholds in the folder's configuration")
    parser.add_argument("--what", choices=("tagger", "all", "rules"), default="tagger")
    parser.add_argument("--write", type=Path, default=None, help="evaluation file to keep the tables in")
    parser.add_argument("--languages", default="et,de,es,fr,sv,nl,pt")
    parser.add_argument("--most", type=int, default=0, help="at most this many texts a set, 0 = all")
    args = parser.parse_args()
    torch.set_num_threads(1)
    tagger = load_word_tagger(str(args.folder) if args.folder else None)
    wanted = set(args.languages.split(","))
    if args.tune:
        documents = [d for d in read_sets(args.data / "ner", "tune") if d.language in wanted]
        found = tuned(tagger, documents)
        path = args.folder / "config.json"
        config = json.loads(path.read_text(encoding="utf-8")) | {"thresholds": found}
        path.write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
        sys.stdout.write(json.dumps(found) + "\n")
        return 0
    documents = [
        d for d in read_sets(args.data / "ner", "report") + read_measured(args.data / "ner") if d.language in wanted
    ]
    if args.most:
        by: dict[str, list[Document]] = defaultdict(list)
        for d in documents:
            by[d.source.split("/")[0]].append(d)
        rng = random.Random(5)
        documents = [d for rows in by.values() for d in rng.sample(rows, min(args.most, len(rows)))]
    rows = tagged(tagger, documents) if args.what == "tagger" else detected(documents, args.what == "all")
    tables = measured(documents, rows)
    if args.write:
        kept = json.loads(args.write.read_text(encoding="utf-8")) if args.write.exists() else {}
        kept |= {args.what: tables} | ({"shown": shown(tables)} if args.what == "all" else {})
        args.write.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    sys.stdout.write(json.dumps(tables, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
