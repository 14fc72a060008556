"""dp-topics: cells and weights by hand, what is claimed is what is drawn, resuming, and that the counts decide."""

import json
import random
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from engine.dp.events import Event
from engine.dp.noise.cells import ANY_LENGTH
from engine.dp.noise.private import Mechanisms, PrivateData
from engine.errors import InternalError, UserError
from engine.methods import get_method
from engine.methods.base import Context, Facts, parse_parameters
from engine.methods.topics import histogram
from engine.methods.topics.claim import questions
from engine.methods.topics.histogram import CLASSES, Part
from engine.methods.topics.method import _Run, _Writing
from engine.methods.topics.public import PublicTopics, check_embedder, load_topics
from engine.models.prompts.operators_builtin import BuiltinOperators
from tests.audit.toy import Models
from tests.methods.evolving import KEY, Scribe, Sealable, composed, fails_at, funnel, made
from tests.models.small_lm import small_generator

TREE = PublicTopics(
    np.eye(4, dtype=np.float32), ((0, 0), (0, 1), (1, 0), (1, 1)), tuple((f"key{i}",) * 4 for i in range(4)), np.ones(4)
)
COUNT = 5


class Topical(Models):
    """An embedder whose texts lie at the centre of the leaf that they name, as `leaf7 ...`."""

    def embed(self, texts):
        return np.stack([_row(text) for text in texts])


def _row(text):
    centres = load_topics().centres
    first = text.split()[0] if text.split() else ""
    return centres[int(first[4:])] if first.startswith("leaf") else Models().embed([text])[0]


def table(leaves, words=12, labels=None):
    rows = [
        (f"r{i}", " ".join([f"leaf{leaf}", *["word"] * (words - 1)]), None, None if labels is None else labels[i])
        for i, leaf in enumerate(leaves)
    ]
    return pd.DataFrame(rows, columns=["record_id", "text", "source_id", "label"])


class World:
    """A corpus of which each record's leaf is known."""

    def __init__(self, records, labels=(), shares="bought", **parameters):
        self.method, self.records, self.outputs = get_method("dp-topics"), records, Sealable()
        self.parameters = parse_parameters(
            self.method.spec, {"words": 12, "candidates": 2, "labels": shares, **parameters}
        )
        self.facts = Facts(len(records), len(records), labels=len(labels))
        self.guarantee = self.method.guarantee(self.parameters, self.facts)
        self.labels, self.models, self.scribe = tuple(labels), Topical(), Scribe()

    def context(self, **changes):
        data = PrivateData(self.records, embed=self.models.embed, order_key=KEY)
        base = Context(
            records=self.records.iloc[:0], spans=pd.DataFrame(), count=COUNT, parameters=self.parameters, seed=3,
            generator=self.scribe, embedder=self.models, operators=BuiltinOperators(), facts=self.facts,
            labels=self.labels, guarantee=self.guarantee, batch_size=2,
            mechanisms=Mechanisms(data, self.outputs, adjacency=self.guarantee.adjacency),
        )  # fmt: skip
        return replace(base, **changes)

    def run(self, **changes):
        given = self.context(**changes)
        return list(self.method.run(given)), given.mechanisms.events


# --- the shipped topics ---


def test_the_shipped_topics_are_a_tree_of_three_steps_with_key_words():
    topics = load_topics()
    assert {len(path) for path in topics.paths} == {3}
    assert len(topics.children(())) == histogram.COARSE
    assert len(set(topics.paths)) == len(topics.paths) == len(topics.keys) > 400
    assert np.linalg.norm(topics.centres, axis=1) == pytest.approx(1.0)
    assert all(topics.keys)
    assert topics.weights.min() >= 8
    assert sorted(leaf for node in topics.children(()) for leaf in topics.below(node)) == list(range(len(topics.keys)))
    leaf = topics.paths.index(topics.children(topics.children(topics.children(())[2])[0])[0])
    assert topics.below(topics.paths[leaf]) == (leaf,)
    assert topics.children(topics.paths[leaf]) == ()


def test_another_embedder_is_refused():
    with pytest.raises(UserError, match="shipped embedder"):
        check_embedder(load_topics(), np.zeros((1, 48), dtype=np.float32))


# --- cells and weights by hand ---


def test_cells_by_hand():
    parts = histogram.first(TREE, ["a", "b"])
    assert [(part.label, part.node) for part in parts] == [("a", (0,)), ("a", (1,)), ("b", (0,)), ("b", (1,))]
    assert [part.node for part in histogram.first(TREE, [])] == [(0,), (1,)]
    kept = histogram.weighed(parts, np.array([9.0, 1.0, -3.0, 4.0]), 2.0)
    assert [(part.label, part.node, part.weight) for part in kept] == [("a", (0,), 9.0), ("b", (1,), 4.0)]
    split = {0: histogram.by_topic(kept[0], TREE)}
    finer = histogram.refined(kept, split, np.array([6.0, 2.0]), 1.0)
    assert [(part.node, part.weight) for part in finer] == [((0, 0), 6.75), ((0, 1), 2.25), ((1,), 4.0)]
    assert histogram.refined(kept, split, np.array([0.5, -2.0]), 1.0) == kept  # nothing passes: it stays whole
    long = histogram.refined(finer[:1], {0: histogram.by_length(finer[0])}, np.array([0.0, 3.0, 9.0, 0.2]), 1.0)
    assert [(part.words, part.weight) for part in long] == [
        (CLASSES[1], pytest.approx(6.75 / 4)), (CLASSES[2], pytest.approx(6.75 * 3 / 4))
    ]  # fmt: skip
    assert part_round(long[0]) == long[0]


def part_round(part):
    return histogram.part_of(json.loads(json.dumps(part.stored())))


def test_where_nothing_passes_what_is_left_above_nothing_stays():
    parts = histogram.first(TREE, [])
    assert [part.weight for part in histogram.weighed(parts, np.array([3.0, -1.0]), 50.0)] == [3.0]
    assert [part.weight for part in histogram.weighed(parts, np.array([-3.0, -1.0]), 50.0)] == [1.0, 1.0]


def test_declared_shares_set_each_labels_weight():
    parts = [Part("a", (0,), weight=3.0), Part("a", (1,), weight=1.0), Part("b", (1,), weight=9.0)]
    found = histogram.to_shares(parts, {"a": 0.8, "b": 0.2, "c": 5.0})
    assert [part.weight for part in found] == pytest.approx([0.6, 0.2, 0.2])


def test_outputs_are_drawn_in_proportion():
    parts = [Part(None, (0,), weight=1.0), Part(None, (1,), weight=3.0), Part(None, (2,), weight=0.004)]
    found = histogram.drawn(parts, 400, random.Random(1))
    assert [found.count(i) for i in range(3)] == pytest.approx([100, 300, 0], abs=2)
    few = [histogram.drawn(parts, 1, random.Random(seed))[0] for seed in range(400)]
    assert few.count(0) == pytest.approx(100, abs=35)


def test_lengths_stand_for_their_class_and_are_borrowed_where_a_cell_has_none():
    rng, known = random.Random(0), Part(None, (0,), CLASSES[2], 1.0)
    assert all(51 <= histogram.words_of(known, [known], 12, rng) <= 110 for _ in range(50))
    assert all(51 <= histogram.words_of(Part(None, (1,)), [known], 12, rng) <= 110 for _ in range(50))
    assert histogram.words_of(Part(None, (1,)), [Part(None, (1,))], 12, rng) == 12


@pytest.mark.parametrize(
    ("units", "epsilon", "steps"), [(300, 0.5, 1), (300, 1.0, 2), (1_000, 1.0, 2), (3_000, 1.0, 3), (1_000, 4.0, 3)]
)
def test_how_fine_topics_are_follows_from_n_and_epsilon(units, epsilon, steps):
    assert histogram.steps_of(units, epsilon) == steps


# --- the claim ---


def test_one_line_for_the_histogram_and_one_for_the_training():
    facts = Facts(2_000, 2_000, labels=3)
    method = get_method("dp-topics")
    values = parse_parameters(method.spec, {"epsilon": 2.0})
    claim = method.guarantee(values, facts)
    (line,) = claim.events
    assert (line["what"], line["count"], line["sensitivity"]) == ("joint histogram", questions(values, facts), 1.0)
    assert "a histogram of topic, length and label together" in claim.sentence
    assert claim.accounting["epsilon_pld"] <= 2.0 + 1e-6
    plain = method.guarantee(parse_parameters(method.spec, {"lengths": "public", "epsilon": 2.0}), Facts(900, 900))
    assert "a histogram of topic, refined in" in plain.sentence


@pytest.mark.slow
def test_a_tuned_claim_has_both_lines_and_stays_within_its_epsilon():
    method = get_method("dp-topics")
    values = parse_parameters(method.spec, {"epsilon": 2.0, "tuning": "noisy", "steps": 20})
    claim = method.guarantee(values, Facts(2_000, 2_000))
    assert [line["what"] for line in claim.events] == ["joint histogram", "gradients of training"]
    assert claim.accounting["epsilon_pld"] <= 2.0 + 1e-6
    alone = method.guarantee(parse_parameters(method.spec, {"epsilon": 2.0}), Facts(2_000, 2_000))
    assert claim.noise["histogram"]["sigma"] > 1.5 * alone.noise["histogram"]["sigma"]


# --- runs ---

SETTINGS = {
    "as it is": {},
    "finer": {"refinements": 3, "epsilon": 8.0},
    "lengths public": {"lengths": "public"},
    "replace-one": {"adjacency": "replace-one"},
    "one candidate": {"candidates": 1},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_it_resumes_from_every_step_and_draws_no_more_than_it_claims(name):
    world = World(table([5] * 30 + [99] * 10), **SETTINGS[name])
    world.scribe = Scribe(unusable=fails_at(0.2))
    steps, events = world.run()
    assert len(made(steps)) == COUNT
    total = funnel(steps)
    assert total["kept"] == COUNT
    drawn, claimed = composed(events), composed([Event.from_dict(event) for event in world.guarantee.events])
    assert drawn.keys() == claimed.keys()
    assert all(drawn[key] <= claimed[key] for key in drawn)
    world.outputs.sealed = True
    for at in range(len(steps)):
        rest, _ = world.run(state=json.loads(json.dumps(steps[at].state)))
        assert made(steps[: at + 1]) + made(rest) == made(steps), at


def test_the_counts_decide_what_is_written():
    topics = load_topics()
    there, other = topics.below((3,))[0], topics.below((9,))[0]
    for leaf in (there, other):
        world = World(table([leaf] * 300), epsilon=4.0)
        run = _Run(world.context())
        parts = run.parts()
        total = sum(part.weight for part in parts)
        right = sum(part.weight for part in parts if topics.paths[leaf][: len(part.node)] == part.node)
        assert right / total > 0.9
        assert sum(part.weight for part in parts if part.words in (CLASSES[0], ANY_LENGTH)) / total > 0.9
        writing = _Writing(world.context(), world.parameters, [part.stored() for part in parts])
        asked = writing._asked(max(parts, key=lambda part: part.weight), 0)
        assert {word for task in asked for word in task.keywords} <= {
            word for below in topics.below(topics.paths[leaf][:1]) for word in topics.keys[below]
        }


def test_labels_are_counted_with_their_topics():
    topics = load_topics()
    one, two = topics.below((3,))[0], topics.below((9,))[0]
    records = table([one] * 200 + [two] * 200, labels=["a"] * 200 + ["b"] * 200)
    for shares in ("bought", "public"):
        world = World(records, ("a", "b"), epsilon=4.0, shares=shares)
        parts = _Run(world.context()).parts()
        weight = {}
        for part in parts:
            weight[part.label, part.node[0]] = weight.get((part.label, part.node[0]), 0.0) + part.weight
        right = weight["a", 3] + weight["b", 9]
        assert right / sum(weight.values()) > 0.9


def test_a_text_that_falls_into_its_topic_is_kept_before_others():
    topics = load_topics()
    leaf, away = topics.below((4,))[0], topics.below((11,))[0]
    world = World(table([leaf] * 20), candidates=3)
    run = _Writing(world.context(), world.parameters, [])
    part = Part(None, topics.paths[leaf][:1])
    texts = [f"leaf{away} one", f"leaf{leaf} two", None, "no such leaf", None, f"leaf{away} four"]
    assert run._chosen([part, part], texts, 0)[0] == f"leaf{leaf} two"
    assert run._chosen([part], [None, None, None], 0) == [None]
    near = topics.centres[list(topics.below(part.node))]
    rest = {text: float((near @ world.models.embed([text])[0]).max()) for text in ("no such leaf", f"leaf{away} four")}
    assert run._chosen([part, part], texts, 0)[1] == max(rest, key=rest.get)


def test_the_model_is_fitted_behind_key_words_and_goes_on_from_every_step(tmp_path):
    claim = World(table([5] * 12)).guarantee
    world = World(table([5] * 12))
    settings = {"tuning": "noisy", "steps": 2, "units_a_step": 6, "rank": 2, "tokens": 12, "words": 12,
                "candidates": 1, "temperature": 1.0, "lengths": "public"}  # fmt: skip
    values = parse_parameters(world.method.spec, settings)
    training = {"noise_multiplier": 2.0, "sigma": 2.0 * values.clip, "sensitivity": values.clip}
    level = {"noise_multiplier": 1.0, "sigma": 1.0, "sensitivity": 1.0}
    world.guarantee = replace(claim, noise={"histogram": level, "training": training})
    given = {"parameters": values, "generator": small_generator(), "scratch": tmp_path, "count": 3}
    seen = []

    class Watching(BuiltinOperators):
        def prompt(self, name, **inputs):
            seen.append((inputs["words"], tuple(inputs.get("keywords") or ())))
            return super().prompt(name, **inputs)

    steps, events = world.run(**given, operators=Watching())
    assert [step.stage for step in steps[:3]] == ["topics", "training", "training"]
    assert len(made(steps)) == 3
    assert [event.what for event in events] == ["joint histogram"] * 1 + ["gradients of training"]
    key = load_topics().first(5)
    assert (12, key) in seen  # a record of twelve words, behind its leaf's key words
    world.outputs.sealed = True
    for at in (0, 1, 2):
        state = json.loads(json.dumps(steps[at].state))
        rest, _ = world.run(**given | {"generator": small_generator()}, state=state)
        assert made(rest) == made(steps)


def test_without_topics_nothing_can_be_counted():
    data = PrivateData(table([1]), embed=Topical().embed, order_key=KEY)
    data.open()
    with pytest.raises(InternalError, match="no topics"):
        _ = data.topics
