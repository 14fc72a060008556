"""The filter's similarity stage: values against windows of words, and what each threshold and preset changes."""

import itertools

import numpy as np
import pytest

from engine.methods.filter.method import FilterParameters
from engine.methods.filter.parameters import ADAPTIVE, PRESETS
from engine.methods.filter.stages import SIMILAR, PostFilter, SensitiveItems
from engine.methods.filter.values import KnownValues, chosen
from engine.pii.content_type import content_type
from tests.benchmarks.filter_similarity import THRESHOLDS, table
from tests.methods.filter.calibration import SENTENCES
from tests.methods.filter.calibration import VALUES as CALIBRATION

VALUES = ["16444/07", "T-58913-22041", "Wolosiewicz Hasslund", "(555) 013-4267", "Bartholomew Featherstonehaugh"]


class Nothing:
    """An embedder of sentences that are never alike, and a detector that finds nothing."""

    def embed(self, texts):
        return np.eye(max(len(texts), 1), 512, dtype=np.float32)[: len(texts)]

    def detect(self, texts):
        return [[] for _ in texts]


def stage(preset=None, **more):
    p = FilterParameters(preset=preset, **more) if preset else FilterParameters(**more)
    return PostFilter(
        Nothing(), Nothing(), SensitiveItems(np.zeros((0, 1), np.float32)), None if p.post == "none" else p.threshold,
        p.action, 0.5, adaptive=ADAPTIVE if p.post == "adaptive" else None, values=KnownValues(VALUES),
    )  # fmt: skip


def filtered(post, *texts):
    none = np.zeros((0, 1), np.float32)
    return [entry and entry.text for entry in post.apply(texts, [none] * len(texts))]


@pytest.mark.parametrize(
    ("text", "similarity"),
    [
        ("under 16444/07.", 1.0),
        ("under 16444-07.", 1.0),
        ("under 16444/09.", 6 / 7),
        ("call 555 013 4267", 1.0),
        ("call 555 013 4268", 9 / 10),
        ("for T-58913-22042", 10 / 11),
        ("for Wolosiewitz Hasslund", 18 / 19),
    ],
)
def test_how_near_a_window_is(text, similarity):
    (nearest, *_) = KnownValues(VALUES).near(text)
    assert nearest.similarity == pytest.approx(similarity, abs=1e-6)


def test_only_the_words_are_redacted_and_placeholders_are_left():
    post = stage("all")
    assert filtered(post, "He called 555-013-4267 twice. [PERSON] was out.") == [
        f"He called {SIMILAR} twice. [PERSON] was out."
    ]
    assert filtered(stage("all", action="drop"), "He called 555 013 4267.", "He called nobody.") == [
        None, "He called nobody."
    ]  # fmt: skip
    assert filtered(stage("baseline"), "under 16444/07") == ["under 16444/07"]


def test_strict_redacts_what_all_filters_let_through():
    text = "The file 16444/09 was closed."
    assert filtered(stage("all"), text) == [text]
    assert filtered(stage("strict"), text) == [f"The file {SIMILAR} was closed."]


def test_adaptive_thresholds_follow_the_kind_of_text():
    personal = "My mother was born in May, and my brother has the file 16444/09."
    technical = "Restart the server and install the driver package for T-58913-22042, then read the log of the kernel."
    general = "The river bends twice before it meets the sea near T-58913-22042, and the road follows it for a while."
    assert [content_type(t) for t in (personal, technical, general)] == ["personal", "technical", "general"]
    assert [SIMILAR in t for t in filtered(stage("adaptive"), personal, technical, general)] == [True, False, True]
    assert [SIMILAR in t for t in filtered(stage("all"), personal, technical, general)] == [False, False, False]
    assert [SIMILAR in t for t in filtered(stage("strict"), personal, technical, general)] == [True, True, True]


def test_the_calibration_in_the_code_is_what_the_script_measures():
    assert table() == CALIBRATION


def test_every_pair_of_thresholds_finds_a_different_share_after_one_edit():
    shares = [CALIBRATION[limit]["1 edit"] for limit in THRESHOLDS]
    error = 2 * (0.25 / 400) ** 0.5  # two standard errors of a share of 400 at most
    assert all(b - a > error for a, b in itertools.pairwise(shares))
    assert all(CALIBRATION[limit]["as it is"] == CALIBRATION[limit]["rewritten"] == 1.0 for limit in THRESHOLDS)
    assert {p["threshold"] for p in PRESETS.values() if "threshold" in p} <= {0.92, 0.85}


def test_thresholds_of_sentences_differ_too():
    shares = [SENTENCES[limit]["a word less"] for limit in THRESHOLDS]
    assert all(b - a > 0.05 for a, b in itertools.pairwise(shares))
    assert all(SENTENCES[limit]["another kind"] == 0 for limit in THRESHOLDS)


def test_windows_chosen_do_not_overlap():
    near = KnownValues(VALUES).near("16444/07 16444/07 and Wolosiewicz Hasslund Wolosiewicz Hasslund")
    kept = sorted((one.start, one.end) for one in chosen(near, 0.85))
    assert len(kept) == 4
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(kept))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("The applicant lodged a complaint with the Court under Article 34 of the Convention.", "general"),
        ("fever 103 and 5 mg given to the patient", "technical"),
        ("The Government contested that argument. The Court notes that the complaint is admissible.", "general"),
        ("She was told by her sister that he had left his flat.", "personal"),
        ("A 54 yo man with a cough.", "personal"),
        ("One of the residents asked about the road.", "general"),
    ],
)
def test_words_for_a_role_are_not_personal(text, kind):
    assert content_type(text) == kind
