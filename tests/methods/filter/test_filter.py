"""The three stages of the filter on hand-checked cases, with the shipped embedder and detector."""

import numpy as np
import pytest

from engine.methods.domains import guess_domain
from engine.methods.filter.method import FilterParameters, batch_seed, segment
from engine.methods.filter.stages import SIMILAR, PostFilter, SensitiveItems, outside_placeholders, prefilter, reapply
from engine.pii.spans import Span


@pytest.fixture(scope="module")
def embedder():
    from engine.models.builtin.embedder import load_embedder

    return load_embedder()


@pytest.fixture(scope="module")
def detector():
    from engine.pii.detect.detector import RecordDetector
    from engine.pii.detect.settings import DetectorSettings

    return RecordDetector(DetectorSettings())


def found(start, end, score=0.9, label="PERSON"):
    return {"start": start, "end": end, "label": label, "score": score, "recogniser": "t", "identifier_type": "direct"}


def test_placeholders_are_not_detected_again():
    text = "[PERSON] met [PERSON 2] and Ann"
    spans = [found(1, 7), found(13, 23), found(28, 31), found(28, 31, score=0.2)]
    kept = outside_placeholders(text, spans, 0.5)
    assert [(s.start, s.end) for s in kept] == [(28, 31)]


def test_prefilter_replaces_accepted_and_newly_found(detector):
    text = "Zorblat wrote from zorblat@example.org yesterday."
    out = prefilter([text], [[Span("r", 0, 7, "PERSON", identifier_type="direct")]], detector, 0.5)[0]
    assert out.text.startswith("[PERSON] wrote from [EMAIL]")
    assert out.replaced >= 2
    assert "zorblat" not in out.text.lower()


def test_reapply_leaves_harmless_text_alone(detector):
    text = "The soup was warm and the bread was fresh."
    assert reapply([text], detector, 0.5)[0].text == text


def test_post_filter_redacts_only_the_sentence_near_a_known_item(embedder, detector):
    secret = "Emerald dragons soar through clouds of rainbow silk."
    items = SensitiveItems(embedder.embed([secret]))
    text = f"The soup was warm. {secret} The bread was fresh."
    post = PostFilter(embedder, detector, items, 0.92, "redact", 0.5)
    entry = post.apply([text], [np.zeros((0, 1), dtype=np.float32)])[0]
    assert entry.text == f"The soup was warm. {SIMILAR} The bread was fresh."
    assert entry.replaced == 1
    assert post.similarities == [pytest.approx(1.0, abs=0.01)]


def test_post_filter_drops_the_output_when_asked(embedder, detector):
    secret = "Emerald dragons soar through clouds of rainbow silk."
    post = PostFilter(embedder, detector, SensitiveItems(embedder.embed([secret])), 0.92, "drop", 0.5)
    none = np.zeros((0, 1), dtype=np.float32)
    results = post.apply([secret, "The bread was fresh."], [none, none])
    assert results[0] is None
    assert results[1].text == "The bread was fresh."


def test_own_sentences_count_for_their_own_record_only(embedder, detector):
    sentence = "The soup was warm and the bread was fresh."
    own = embedder.embed([sentence])
    none = np.zeros((0, 1), dtype=np.float32)
    post = PostFilter(embedder, detector, SensitiveItems(none), 0.92, "redact", 0.5)
    first, second = post.apply([sentence, sentence], [own, none])
    assert first.text == SIMILAR
    assert second.text == sentence


def test_nearest_is_the_highest_cosine_over_blocks():
    rng = np.random.default_rng(0)
    items = rng.normal(size=(5000, 8)).astype(np.float32)
    items /= np.linalg.norm(items, axis=1, keepdims=True)
    queries = items[[3, 4999]]
    assert SensitiveItems(items).nearest(queries) == pytest.approx([1.0, 1.0], abs=1e-5)
    assert SensitiveItems(np.zeros((0, 1), dtype=np.float32)).nearest(queries).tolist() == [-1.0, -1.0]


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("The patient had fever and a rash after the second dose of vaccine.", "clinical"),
        ("The applicant lodged an appeal with the court before the hearing.", "legal"),
        ("My account password reset never arrived and the order needs a refund", "reviews"),
        ("hi guys, anyone in the channel? lol", "social"),
        ("Great restaurant, five stars, the waiter was lovely, would recommend", "reviews"),
        ("The river bends twice before it meets the sea.", "generic"),
        ("", "generic"),
    ],
)
def test_domain_guess(text, domain):
    assert guess_domain([text]) == domain


def test_batch_seeds_differ_and_repeat():
    seeds = {batch_seed(1, position) for position in range(0, 320, 16)}
    assert len(seeds) == 20
    assert batch_seed(1, 16) == batch_seed(1, 16) != batch_seed(2, 16)


def test_defaults_are_those_of_the_paper():
    p = FilterParameters()
    assert (p.temperature, p.top_k, p.top_p, p.repetition_penalty, p.threshold) == (0.8, 50, 0.95, 1.2, 0.92)


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("One two. Three four. Five six.", 4, ["One two. Three four.", "Five six."]),
        ("One two three four five six. Seven.", 4, ["One two three four five six.", "Seven."]),
        ("Heading\nbody text here", 2, ["Heading", "body text here"]),
        ("short", 10, ["short"]),
        ("", 10, [""]),
    ],
)
def test_segments_end_at_sentence_ends(text, words, expected):
    assert segment(text, words) == expected
