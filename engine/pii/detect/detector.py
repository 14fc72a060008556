"""Detection: rules, the tagger, known identifiers, lists, custom patterns and a spaCy folder, resolved.

Privacy posture: no connection is opened; errors name a pattern or a folder, never a text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import regex

from engine.errors import UserError
from engine.models import cancel
from engine.models.contracts import Found
from engine.pii.detect.known import KnownIdentifiers
from engine.pii.detect.overlap import choose_spans
from engine.pii.detect.plain import plain_words
from engine.pii.detect.presets import presets
from engine.pii.detect.rules import Rules
from engine.pii.detect.settings import PATTERN_SECONDS, DetectorSettings
from engine.pii.languages.detect import OtherLanguages, dated_in
from engine.pii.languages.telling import ENGLISH, languages_of
from engine.pii.spans import Span, canonical_label, default_identifier_type, folded

if TYPE_CHECKING:
    from spacy.language import Language


OWN_LISTS = ("known", "deny", "custom")


class RecordDetector:
    """Everything loaded once for one set of settings; implements `engine.models.contracts.Detector`."""

    def __init__(self, settings: DetectorSettings | None = None) -> None:
        self.settings = settings or DetectorSettings()
        off = self.settings.disabled
        self.preset = presets()[self.settings.preset]
        self.rules = Rules(off)
        self.known = KnownIdentifiers(() if "known" in off else self.settings.known, fuzzy=self.settings.fuzzy)
        self.allow = frozenset(folded(v) for v in self.settings.allow)
        self.deny = _deny_pattern(() if "deny" in off else self.settings.deny)
        self.custom = [(p, p.compiled()) for p in (() if "custom" in off else self.settings.patterns)]
        self.spacy = None if "spacy" in off else _load_spacy(self.settings.spacy_model)
        self.tagger = None
        if self.settings.tagger and "tagger" not in off:
            from engine.models.builtin.tagger.tagger_run import load_tagger

            self.tagger = load_tagger(self.settings.tagger_model)
        self.others = OtherLanguages(off, self.tagger)

    def find(
        self,
        texts: Sequence[str],
        stop: Callable[[], bool] | None = None,
        languages: Sequence[str] | None = None,
    ) -> list[list[Span]]:
        """Return the spans of each text, sorted, without overlap, with an empty record id.

        Args:
            texts: the records.
            stop: asked before each record and each pass of the tagger.
            languages: the language of each text; None tells it from these texts alone.

        Raises:
            Cancelled: `stop` said so.
        """
        spoken = languages_of(texts, self.settings.language) if languages is None else languages
        rows: list[list[Span]] = [[] for _ in texts]
        english = [i for i, code in enumerate(spoken) if code == ENGLISH]
        for i, row in zip(english, self._english([texts[i] for i in english], stop)):
            rows[i] = row
        others = [i for i, code in enumerate(spoken) if code != ENGLISH]
        for i, row in zip(others, self._other([texts[i] for i in others], [spoken[i] for i in others], stop)):
            rows[i] = row
        return rows

    def _other(
        self, texts: Sequence[str], languages: Sequence[str], stop: Callable[[], bool] | None
    ) -> list[list[Span]]:
        """Return the spans of texts in other languages: their tagger, their rules, the custodian's own lists."""
        if not texts:
            return []
        found = self.others.find(texts, languages, stop)
        rows = [
            self.preset.held(t, row, dated=dated_in(code), english=not self.others.own_tagger)
            + self.known.find(t)
            + self._lists(t)
            for t, code, row in zip(texts, languages, found)
        ]
        self._add_spacy(texts, rows)
        return [choose_spans(t, row, self.settings.threshold, self.allow) for t, row in zip(texts, rows)]

    def _add_spacy(self, texts: Sequence[str], rows: Sequence[list[Span]]) -> None:
        if self.spacy is not None:
            for row, doc in zip(rows, self.spacy.pipe(texts)):
                row += [_made(e.start_char, e.end_char, canonical_label(e.label_), 0.85, "spacy") for e in doc.ents]

    def _english(self, texts: Sequence[str], stop: Callable[[], bool] | None) -> list[list[Span]]:
        """Return the spans of English texts."""
        if not texts:
            return []
        tagged: list[list[Span]] = [[] for _ in texts]
        if self.tagger is not None:
            for row, found in zip(tagged, self.tagger.tag(texts, stop)):
                row += [_made(t.start, t.end, t.label, t.score, "tagger") for t in found]
        for row, text in zip(tagged, texts):
            cancel.check(stop)
            row[:] = [plain_words.doubted(text, plain_words.without_field(text, s)) for s in row]
            ruled = self.rules.find(text)
            row += ruled if self.tagger is None else plain_words.held_back(text, ruled)
            row[:] = self.preset.held(text, [s for s in row if not plain_words.names_nobody(text, s)])
            row += self.known.find(text) + self._lists(text)
        self._add_spacy(texts, tagged)
        resolved = [choose_spans(t, row, self.settings.threshold, self.allow) for t, row in zip(texts, tagged)]
        return [[plain_words.without_field(t, s) for s in row if self._counts(t, s)] for t, row in zip(texts, resolved)]

    def _counts(self, text: str, span: Span) -> bool:
        """Return whether a span may stay: the custodian's own lists always, a rest of function words never."""
        return span.recogniser in OWN_LISTS or not plain_words.names_nobody(text, span)

    def _lists(self, text: str) -> list[Span]:
        out = []
        if self.deny is not None:
            out += [_made(m.start(), m.end(), "MISC", 1.0, "deny") for m in self.deny.finditer(text)]
        for spec, pattern in self.custom:
            try:
                for m in pattern.finditer(text, timeout=PATTERN_SECONDS * 8):
                    if m.end() > m.start():
                        out.append(_made(m.start(), m.end(), spec.label, spec.score, "custom"))
            except TimeoutError:
                raise UserError(f"custom pattern {spec.name!r} took too long on a record: make it simpler") from None
        return out

    def detect(self, texts: Sequence[str]) -> list[list[Found]]:
        """Return what each text holds, in the order of the texts."""
        return [[_found(span) for span in row] for row in self.find(texts)]


def _found(span: Span) -> Found:
    return {
        "start": span.start, "end": span.end, "label": span.label, "score": span.score, "recogniser": span.recogniser,
        "identifier_type": span.identifier_type,
    }  # fmt: skip


def _made(start: int, end: int, label: str, score: float, recogniser: str) -> Span:
    return Span("", start, end, label, score, recogniser, default_identifier_type(label))


def _deny_pattern(values: Sequence[str]) -> regex.Pattern[str] | None:
    forms = [r"\s+".join(map(regex.escape, v.split())) for v in sorted(values, key=len, reverse=True) if v.strip()]
    if not forms:
        return None
    return regex.compile(r"(?<!\w)(?:" + "|".join(forms) + r")(?!\w)", regex.IGNORECASE)


def _load_spacy(folder: str | None) -> Language | None:
    """Return the spaCy pipeline of a local folder, or None.

    Raises:
        UserError: the folder is no pipeline or has nothing that finds entities.
    """
    if folder is None:
        return None
    import spacy

    path = Path(folder)
    if not (path / "config.cfg").is_file():
        raise UserError(f"spacy_model: {path.name!r} is no spaCy pipeline folder (no config.cfg): name a local folder")
    try:
        nlp = spacy.load(path)
    except (OSError, ValueError, ImportError) as error:
        raise UserError(
            f"spacy_model: {path.name!r} cannot be loaded ({type(error).__name__}): check its version"
        ) from None
    if not any(p in nlp.pipe_names for p in ("ner", "entity_ruler", "span_ruler", "transformer")):
        raise UserError(f"spacy_model: {path.name!r} has no component that finds entities")
    return nlp
