"""What private methods share: quotas, fingerprints, similarities, echoes, and writing in batches."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import InternalError, UserError
from engine.methods.evolution import common as pe
from engine.methods.evolution.common import Task, Writer, fingerprint, quotas, similarities, unusable
from engine.methods.parameters import WritingParameters
from engine.models.builtin.format import BLANK, blanked
from engine.models.builtin.language_model import load_builtin_generator
from engine.models.builtin.shipped import lm_folder
from tests.methods.evolving import Scribe, World

TEXT = st.text(max_size=12)
PAIRS = st.lists(st.tuples(TEXT, st.none() | TEXT), max_size=5)


# -- quotas ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shares", "count", "expected"),
    [
        ({"a": 1, "b": 1}, 4, {"a": 2, "b": 2}),
        ({"a": 1, "b": 1, "c": 1}, 4, {"a": 2, "b": 1, "c": 1}),  # equal remainders: by name
        ({"a": 0.6, "b": 0.4}, 4, {"a": 2, "b": 2}),  # 2.4 and 1.6: the larger remainder
        ({"a": -5, "b": 10}, 3, {"a": 0, "b": 3}),
        ({"a": 0, "b": -1}, 2, {"a": 1, "b": 1}),  # nothing at all becomes equal
        ({None: 7}, 5, {None: 5}),
        ({"a": 1, "b": 1}, 0, {"a": 0, "b": 0}),
    ],
)
def test_quotas_by_hand(shares, count, expected):
    assert quotas(shares, count) == expected


@given(
    shares=st.dictionaries(st.text(max_size=3), st.floats(-1e6, 1e6, allow_nan=False), min_size=1, max_size=9),
    count=st.integers(0, 5000),
)
@settings(max_examples=150, deadline=None)
def test_quotas_add_up_and_are_within_one_of_the_share(shares, count):
    found = quotas(shares, count)
    assert sum(found.values()) == count
    total = sum(max(0.0, share) for share in shares.values())
    for label, share in shares.items():
        exact = count * max(0.0, share) / total if total > 0 else count / len(shares)
        assert exact - 1 - 1e-6 * count < found[label] < exact + 1 + 1e-6 * count


def test_a_pool_is_refused_where_a_label_has_too_few():
    pool = [("x", "a"), ("y", "a"), ("z", "b")]
    pe.check_pool(pool, {"a": 2, "b": 1})
    with pytest.raises(UserError, match="only 1 usable candidates of label 'b' are left, 2 are needed"):
        pe.check_pool(pool, {"a": 1, "b": 2})
    with pytest.raises(UserError, match="only 0 usable candidates are left, 1 are needed"):
        pe.check_pool(pool, {None: 1})


# -- fingerprints and seeds -----------------------------------------------------------------------------------


@given(PAIRS, PAIRS)
@settings(max_examples=150, deadline=None)
def test_a_fingerprint_tells_candidates_apart(one, other):
    def plain(pairs):
        return [(text, label or "") for text, label in pairs]  # an empty label is none

    assert (fingerprint(one) == fingerprint(other)) == (plain(one) == plain(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([("a", "b")], [("ab", "")]),
        ([("a", None), ("b", None)], [("b", None), ("a", None)]),  # in order
        ([("a", None), ("b", None)], [("a", "b")]),
        ([("a\ud800", None)], [("a", None)]),  # half of a surrogate pair, as broken files have it
    ],
)
def test_fingerprints_of_different_candidates_differ(one, other):
    assert fingerprint(one) != fingerprint(other)


def test_a_place_fixes_its_draw_and_no_other_one():
    assert pe.seed_of(3, "invent", 1) == pe.seed_of(3, "invent", 1)
    assert len({pe.seed_of(3, "invent", 1), pe.seed_of(4, "invent", 1), pe.seed_of(3, "invent", 2)}) == 3
    assert 0 <= pe.seed_of(3) < 2**64
    assert pe.rng_of(3, "a").random() == pe.rng_of(3, "a").random() != pe.rng_of(3, "b").random()


# -- similarities ---------------------------------------------------------------------------------------------


def naive(rows):
    table = rows.astype(np.float64) @ rows.T.astype(np.float64)
    upper = [(i, j, table[i, j]) for i in range(len(rows)) for j in range(i + 1, len(rows))]
    mean = float(np.mean([min(1.0, max(0.0, value)) for _, _, value in upper]))
    return mean, sorted(upper, key=lambda pair: -pair[2])


def unit_rows(n, d, seed):
    rows = np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@given(n=st.integers(2, 40), d=st.integers(1, 12), seed=st.integers(0, 99), pairs=st.integers(1, 5))
@settings(max_examples=120, deadline=None)
def test_similarities_agree_with_the_definition(n, d, seed, pairs):
    rows = unit_rows(n, d, seed)
    mean, found = similarities(rows, pairs)
    expected, best = naive(rows)
    assert mean == pytest.approx(expected, abs=1e-5)
    assert [value for _, _, value in found] == pytest.approx([value for _, _, value in best[:pairs]], abs=1e-5)
    table = rows @ rows.T
    for i, j, value in found:
        assert i < j
        assert value == pytest.approx(float(table[i, j]), abs=1e-5)


def test_texts_that_point_apart_still_have_a_most_similar_pair():
    rows = np.array([[1, 0], [-1, 0]], np.float32)
    assert similarities(rows) == (0.0, [(0, 1, -1.0)])


def test_more_than_one_block_of_rows():
    rows = unit_rows(1500, 6, 1)
    rows[1400] = rows[20]
    mean, found = similarities(rows, 1)
    table = np.clip(rows.astype(np.float64) @ rows.T, 0.0, 1.0)
    assert mean == pytest.approx((table.sum() - np.trace(table)) / (1500 * 1499), abs=1e-5)
    assert found[0][:2] == (20, 1400)


def test_one_text_resembles_nothing():
    assert similarities(np.ones((1, 3), np.float32)) == (0.0, [])


def test_a_round_is_noted_by_hand():
    rows = np.array([[1, 0], [0, 1], [1, 0], [0.6, 0.8]], np.float32)
    pool = [("a" * 400, None), ("b", None), ("c", None), ("d", None)]
    note = pe.noted(2, np.array([3.0, -1.0, 4.0, 1.0]), [2, 0], pool, rows, tau=0.5)
    assert note["iteration"] == 2
    assert (note["population"], note["selected"], note["votes"], note["tau"]) == (4, 2, 7.0, 0.5)
    assert note["votes_kept"] == pytest.approx(7 / 8)  # of eight positive votes
    assert note["votes_quantiles"] == [-1.0, 0.5, 2.0, 3.25, 4.0]
    assert note["votes_top"] == [4.0, 3.0, 1.0, -1.0]
    assert note["self_similarity"] == pytest.approx(1.0)
    assert note["most_similar"] == [{"first": "c", "second": "a" * 300, "similarity": 1.0}]
    found = pe.diagnostics_of([{"iteration": 1}, note])
    assert list(found["rounds"]) == ["2"]
    assert "most_similar" not in found["rounds"]["2"]
    assert len(found["iterations"]) == 2


# -- what cannot be used --------------------------------------------------------------------------------------

PROMPT = "Write one new clinic letter about a patient with a fever, and keep it short."


@pytest.mark.parametrize(
    ("text", "prompt", "inputs", "reason"),
    [
        ("", PROMPT, (), pe.EMPTY),
        ("two words", PROMPT, (), pe.EMPTY),
        ("three short words", PROMPT, (), ""),
        ("a text with <|out|> a token in it", PROMPT, (), pe.ECHO),
        # nine words in a row of the instruction; eight of them are chance
        ("So: write one new clinic letter about a patient with", PROMPT, (), pe.ECHO),
        ("So: write one new clinic letter about a patient.", PROMPT, (), ""),
        # what stands in the prompt as the text to rewrite may come again
        ("He came in with a fever and a sore throat today", "Rewrite: He came in with a fever and a sore throat today",
         ("He came in with a fever and a sore throat today",), ""),
        ("He came in with a fever and a sore throat today", "Rewrite: He came in with a fever and a sore throat today",
         (), pe.ECHO),
        # what stands between the blanks of a template has to come again, however long it is
        ("He came in with a fever and a sore throat today",
         "<|text|>He came in with a fever and a sore throat <|blank|>",
         ("He came in with a fever and a sore throat <|blank|>",), ""),
        ("He came in with a fever and a sore throat today", "Fill: He came in with a fever and a sore throat ____",
         ("He came in with a fever and a sore throat <|blank|>",), ""),
        ("So: write one new clinic letter about a patient with", PROMPT + "<|text|>He came in <|blank|>",
         ("He came in <|blank|>",), pe.ECHO),
        # words on both sides of a control token are not in a row
        ("one two three four five six seven eight nine", "one two three four<|text|>five six seven eight nine", (), ""),
    ],
)  # fmt: skip
def test_what_can_be_used(text, prompt, inputs, reason):
    assert unusable(text, prompt, inputs) == reason


# -- the writer -----------------------------------------------------------------------------------------------


def writer(scribe=None, **parameters):
    world = World("public", **parameters)
    return Writer(world.context(generator=scribe or world.scribe), world.parameters)


def tasks(n, words=20):
    return [Task("invent", "billing", words, keywords=(f"k{i}",)) for i in range(n)]


def test_a_batch_gives_a_text_a_task_and_its_place_fixes_them():
    one, again, elsewhere = (writer().write(tasks(4), "round 1", place) for place in (0, 0, 4))
    assert len(one.texts) == 4
    assert one == again
    assert one.texts != elsewhere.texts
    assert one.dropped == {}


def test_the_built_in_model_s_filled_templates_are_used_however_few_their_blanks():
    world = World("public", kind="narrative", domain="clinical")
    writer = Writer(world.context(generator=load_builtin_generator(lm_folder())), world.parameters)
    note = (
        "Pt received the vaccine and the next day had a fever of 102 and a red swollen arm that lasted for three days"
    )
    templates = [blanked(f"{note} {end}", Random(end), 0.1) for end in ("then", "again", "and", "no", "more", "so")]
    assert all(max(len(piece.split()) for piece in text.split(BLANK)) >= 9 for text in templates)
    written = writer.write([Task("fill", None, 24, text=text) for text in templates], "a", 0)
    assert written.dropped == {}
    assert None not in written.texts


def test_what_fails_is_tried_once_more_with_another_seed():
    scribe = Scribe()
    scribe.unusable = lambda prompt, seed: seed == scribe.samplings[0].seed and "k1" in prompt
    found = writer(scribe).write(tasks(3), "a", 0)
    assert None not in found.texts
    assert found.dropped == {}
    assert len(scribe.prompts) == 4
    assert "k1" in scribe.prompts[3]
    assert scribe.samplings[0].seed != scribe.samplings[1].seed


def test_what_fails_twice_is_dropped_with_its_reason():
    found = writer(Scribe(unusable=lambda prompt, seed: "k1" in prompt)).write(tasks(3), "a", 0)
    assert [text is None for text in found.texts] == [False, True, False]
    assert found.dropped == {pe.EMPTY: 1}


def test_a_model_that_writes_nothing_is_said_to():
    broken = Scribe(unusable=lambda prompt, seed: True)
    assert writer(broken).write(tasks(7), "a", 0).texts == [None] * 7
    with pytest.raises(UserError, match="no usable text for 8 prompts"):
        writer(broken).write(tasks(8), "a", 0)


def test_length_temperature_and_nucleus_reach_the_model():
    scribe = Scribe()
    made = writer(scribe, temperature=0.9, top_p=0.8)
    made.write([*tasks(1, words=10), *tasks(1, words=100)], "a", 0)
    made.write(tasks(1), "a", 1, temperature=1.7)
    first, second = scribe.samplings
    assert (first.temperature, first.top_p, second.temperature) == (0.9, 0.8, 1.7)
    assert first.max_new_tokens >= 100 * pe.TOKENS_A_WORD  # the longest task of a batch


@pytest.mark.parametrize(("wanted", "size"), [(1, 4), (256, 4), (1280, 20), (10**6, 256)])
def test_large_runs_are_committed_in_larger_batches(wanted, size):
    assert writer().batch_size(wanted) == size


def test_a_writer_needs_a_model():
    world = World("public")
    for name in ("generator", "operators"):
        with pytest.raises(InternalError, match="generator or operators"):
            Writer(world.context(**{name: None}), world.parameters)


def test_auto_is_generic_and_a_declared_domain_stands():
    assert [pe.resolved(name) for name in ("auto", "legal")] == ["generic", "legal"]
    assert WritingParameters().domain == "auto"
