"""The rule part of detection: Presidio's analyser over the catalogue's recognisers.

Presidio runs without a language model; spaCy's blank English tokeniser gives it the words around a
match, so that context words raise a score. Nothing here opens a connection: the public-suffix list
that Presidio's mail recogniser would fetch is replaced by the snapshot inside tldextract.

Privacy posture: Presidio's decision trace stays off; matches are kept as positions only.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import regex

from engine.pii.detect.recognisers import RecogniserSpec, specs
from engine.pii.spans import Span, default_identifier_type

if TYPE_CHECKING:
    from presidio_analyzer import EntityRecognizer, RecognizerResult
    from presidio_analyzer.nlp_engine import NlpArtifacts, NlpEngine


FLAGS = regex.MULTILINE | regex.DOTALL


def work_offline() -> None:
    """Make tldextract use the list it carries, so that no recogniser opens a connection."""
    import tldextract

    offline: Any = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None, fallback_to_snapshot=True)
    tldextract.extract = offline
    tldextract.tldextract.extract = offline


@lru_cache(maxsize=1)
def _engine_class() -> type[NlpEngine]:
    """Return the NLP engine class: a blank tokeniser whose lemmas are lower-cased words."""
    import spacy
    from presidio_analyzer.nlp_engine import NlpArtifacts, NlpEngine

    class BlankEngine(NlpEngine):
        engine_name = "blank"
        is_available = True

        def __init__(self) -> None:
            self.nlp = spacy.blank("en")
            self.nlp.max_length = 20_000_000

        def load(self) -> None:
            """Nothing to load."""

        def is_loaded(self) -> bool:
            return True

        def process_text(self, text: str, language: str) -> NlpArtifacts:
            doc = self.nlp.make_doc(text)
            return NlpArtifacts(
                entities=[],
                tokens=doc,
                tokens_indices=[t.idx for t in doc],
                lemmas=[t.lower_ for t in doc],
                nlp_engine=self,
                language=language,
            )

        def process_batch(
            self, texts: Iterable[str], language: str, batch_size: int = 1, n_process: int = 1, **_: object
        ) -> Iterator[tuple[str, NlpArtifacts]]:
            return ((t, self.process_text(t, language)) for t in texts)

        def is_stopword(self, word: str, language: str) -> bool:
            return False  # "call" and "name" are stop words, and context words

        def is_punct(self, word: str, language: str) -> bool:
            return bool(self.nlp.vocab[word].is_punct)

        def get_supported_entities(self) -> list[str]:
            return []

        def get_supported_languages(self) -> list[str]:
            return ["en"]

    return BlankEngine


def build(spec: RecogniserSpec) -> EntityRecognizer:
    """Return the Presidio recogniser of one catalogue entry."""
    import presidio_analyzer.predefined_recognizers as ready
    from presidio_analyzer import Pattern, PatternRecognizer

    if spec.presidio:
        options = {"context": list(spec.context)} if spec.context else {}
        made = getattr(ready, spec.presidio)(
            supported_entity=spec.label, name=spec.id, **options, **(spec.options or {})
        )
        return made
    patterns = [Pattern(name=p.name, regex=p.regex, score=p.score) for p in spec.patterns]
    return PatternRecognizer(
        supported_entity=spec.label,
        name=spec.id,
        patterns=patterns,
        context=list(spec.context),
        global_regex_flags=FLAGS | (regex.IGNORECASE if spec.ignore_case else 0),
    )


class Rules:
    """Presidio's analyser over the enabled recognisers."""

    def __init__(self, disabled: frozenset[str] = frozenset()) -> None:
        logging.getLogger("presidio-analyzer").setLevel(logging.ERROR)
        work_offline()
        from presidio_analyzer.context_aware_enhancers import LemmaContextAwareEnhancer

        self.nlp = _engine_class()()
        self.enhancer = LemmaContextAwareEnhancer(
            context_similarity_factor=0.35,
            min_score_with_context_similarity=0.5,
            context_prefix_count=6,
            context_suffix_count=2,
            context_matching_mode="whole_word",
        )
        self.parts: list[tuple[RecogniserSpec, Any, Any]] = []
        for spec in specs():
            if spec.id in disabled:
                continue
            needs = regex.compile(spec.needs, regex.IGNORECASE) if spec.needs else None
            self.parts.append((spec, build(spec), needs))

    def find(self, text: str) -> list[Span]:
        """Return the spans of one text, with an empty record id, scores in (0, 1].

        Recognisers whose cheap pre-check (`needs`) fails are skipped; context words are looked up only
        where something was found.
        """
        raw: list[Any] = []
        used: list[Any] = []
        for spec, recogniser, needs in self.parts:
            if needs is not None and not needs.search(text):
                continue
            found = recogniser.analyze(text, [spec.label], None)
            if found:
                raw.extend(found)
                used.append(recogniser)
        if not raw:
            return []
        artifacts = self.nlp.process_text(text, "en")
        results = self.enhancer.enhance_using_context(text, raw, artifacts, used)
        return [self._span(text, r) for r in results if r.end > r.start]

    def _span(self, text: str, result: RecognizerResult) -> Span:
        name = result.recognition_metadata["recognizer_name"]
        start, end = trim(text, result.start, result.end)
        label = result.entity_type
        return Span("", start, end, label, float(result.score), name, default_identifier_type(label))


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the range without outer white space and trailing commas."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and (text[end - 1].isspace() or text[end - 1] in ",;:"):
        end -= 1
    return start, end
