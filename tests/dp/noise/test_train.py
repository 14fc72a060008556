"""Training with noise: sensitivity by brute force, sampling, the normaliser, noise, what is paid when, kills."""

import math
import zlib

import numpy as np
import pandas as pd
import pytest
import torch

from engine.dp.accounting.exact import account
from engine.dp.events import Event, vector_sensitivity
from engine.dp.noise import mechanisms, train
from engine.dp.noise.outputs import MemoryOutputs
from engine.dp.noise.private import Mechanisms, PrivateData
from engine.dp.noise.train import Training, clipped_sum, gaussian_noise
from engine.dp.noise.train_store import FolderKeeper, MemoryKeeper
from engine.errors import InternalError, UserError

KEY = b"k" * 32
CLIP = 0.5


class Toy:
    """Two weights whose gradient is a hash of the text, huge for some, and not a number for one."""

    side_by_side = 3

    def __init__(self):
        self.weights = [torch.zeros(2, 2), torch.zeros(3)]
        self.seen: list[list[str]] = []
        self.taken: list[list[torch.Tensor]] = []

    def gradients(self, documents):
        self.seen.append([one.text for one in documents])
        made = [gradient(one.text) for one in documents]
        lengths = torch.tensor([float(len(one.text)) for one in documents])
        return [torch.stack([row[i] for row in made]) for i in range(2)], lengths

    def shapes(self):
        return [tuple(w.shape) for w in self.weights]

    def update(self, step, given):
        self.taken.append(list(given))
        self.weights = [w - g for w, g in zip(self.weights, given, strict=True)]

    def state(self):
        return {str(i): w for i, w in enumerate(self.weights)}

    def restore(self, state):
        self.weights = [state[str(i)].clone() for i in range(2)]


def gradient(text):
    if text == "broken":
        return [torch.full((2, 2), float("nan")), torch.full((3,), float("inf"))]
    rng = np.random.default_rng(zlib.crc32(text.encode()))
    size = 1e6 if "huge" in text else 1e-3 if "tiny" in text else 1.0
    return [torch.tensor(size * rng.normal(size=shape), dtype=torch.float32) for shape in ((2, 2), (3,))]


def table(people=6, documents=(1, 4, 2, 1, 3, 1)):
    rows = [
        (f"{p}-{n}", f"{'huge' if p == 1 else 'tiny' if p == 2 else 'some'} p{p} n{n}", f"s{p}", "a")
        for p in range(people)
        for n in range(documents[p])
    ]
    return pd.DataFrame(rows, columns=["record_id", "text", "source_id", "label"])


def bound(records=None, unit="source", cap=3, adjacency="zero-out", outputs=None, units=None, kind=Mechanisms):
    records = table() if records is None else records
    data = PrivateData(records, unit=unit, cap=cap, order_key=KEY, units=units)
    outputs = MemoryOutputs() if outputs is None else outputs
    return data, kind(data, outputs, unit=unit, cap=cap, adjacency=adjacency)


def settings(**changes):
    given = {"steps": 3, "clip": CLIP, "noise_multiplier": 1.0, "sampling_probability": 1.0, "expected": 6.0}
    return Training(**(given | changes))


@pytest.fixture
def exact(monkeypatch):
    """Leave the noise out, so that what a unit moves shows."""
    monkeypatch.setattr(train, "gaussian_noise", lambda shapes, sigma: [np.zeros(shape) for shape in shapes])


def summed(data, **changes):
    asked = settings(**changes)
    (step, _loss) = train.noisy_step(data.open(), Toy(), asked, 1.0)
    return torch.cat([part.reshape(-1) for part in step]).double() * asked.expected


@pytest.mark.parametrize("unit", ["record", "source"])
@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
def test_no_unit_moves_the_sum_further_than_the_sensitivity(unit, adjacency, exact):
    records = table()
    whole, _ = bound(records, unit=unit)
    base, furthest = summed(whole), 0.0
    names = records["record_id"] if unit == "record" else records["source_id"]
    for name in dict.fromkeys(names):
        own = names == name
        others = [records[~own]]
        if adjacency == "replace-one":
            others = [records.assign(text=records["text"].where(~own, word)) for word in ("huge q", "broken", "huge z")]
        for other in others:
            data, _ = bound(other.reset_index(drop=True), unit=unit, units=whole.units)
            furthest = max(furthest, float((summed(data) - base).norm()))
    limit = vector_sensitivity(CLIP, adjacency)
    assert furthest <= limit * (1 + 1e-6)
    assert furthest > 0.95 * CLIP  # and the limit is reached by a huge gradient


def test_a_units_documents_are_one_vector_before_they_are_clipped(exact):
    records = table()
    own = records[records["source_id"] == "s4"]  # three documents, of ordinary length
    data, _ = bound(own.reset_index(drop=True), cap=3, units=6)
    rows = [torch.cat([part.reshape(-1) for part in gradient(text)]).double() for text in own["text"]]
    mean = torch.stack(rows).mean(dim=0)
    torch.testing.assert_close(summed(data), mean * (CLIP / mean.norm()), rtol=1e-4, atol=1e-6)
    apart = torch.stack([row * CLIP / row.norm() for row in rows]).sum(dim=0)
    assert float((apart - summed(data)).norm()) > 0.1


def test_small_gradients_stay_and_others_keep_their_direction():
    found = clipped_sum([torch.tensor([[3e-3, 4e-3], [30.0, 40.0]])], CLIP)[0]
    torch.testing.assert_close(found, torch.tensor([3e-3 + 0.3, 4e-3 + 0.4]), rtol=1e-5, atol=1e-7)
    many = torch.randn(50, 7, generator=torch.Generator().manual_seed(1)) * 100
    for i in range(50):
        alone = clipped_sum([many[i : i + 1, :3], many[i : i + 1, 3:]], CLIP)
        assert math.sqrt(sum(float((part.double() ** 2).sum()) for part in alone)) <= CLIP


def test_what_is_not_finite_counts_as_nothing(exact):
    records = pd.DataFrame([("r", "broken", "s", "a")], columns=["record_id", "text", "source_id", "label"])
    data, _ = bound(records, units=6)
    assert torch.equal(summed(data), torch.zeros(7, dtype=torch.float64))


def test_parts_of_a_batch_do_not_show(exact, monkeypatch):
    data, _ = bound()
    found = []
    for size in (1, 2, 5, 50):
        monkeypatch.setattr(Toy, "side_by_side", size)
        found.append(summed(data))
    for other in found[1:]:
        torch.testing.assert_close(other, found[0], rtol=1e-5, atol=1e-6)


def test_each_step_draws_its_units_anew_and_divides_by_the_expected_number(exact):
    people = 400
    records = table(people, (1,) * people)
    _data, held = bound(records)
    toy = Toy()
    asked = settings(steps=30, sampling_probability=0.1, expected=40.0)
    held.train_dp("training", toy, asked, fingerprint="f")
    sizes, first = [], []
    texts = iter(toy.seen)
    for step in toy.taken:
        drawn = []
        while True:  # the step's sum tells which parts were its own
            expected = torch.zeros(7, dtype=torch.float64)
            for text in drawn:
                row = torch.cat([part.reshape(-1) for part in gradient(text)]).double()
                expected += row * min(1.0, CLIP / float(row.norm()))
            if drawn and float((torch.cat([p.reshape(-1) for p in step]).double() * 40.0 - expected).norm()) < 1e-3:
                break
            drawn += next(texts)
        sizes.append(len(drawn))
        first.append(frozenset(drawn))
    assert len(set(first)) == 30
    # 30 draws of Bin(400, 0.1): mean 40 ± 1.1, variance 36; limits missed once in some million times
    assert 34 < np.mean(sizes) < 46
    assert 5 < np.var(sizes) < 110


def test_an_empty_draw_takes_its_step_on_noise_alone(monkeypatch):
    monkeypatch.setattr(mechanisms, "poisson_sample", lambda units, q: np.zeros(units, dtype=bool))
    _, held = bound()
    toy = Toy()
    progress = held.train_dp("training", toy, settings(steps=2), fingerprint="f")
    assert toy.seen == []
    assert len(toy.taken) == 2
    assert all(float(part.abs().max()) > 0 for step in toy.taken for part in step)
    assert all(math.isnan(loss) for loss in progress.losses)


def test_the_noise_has_the_width_it_should_and_is_never_the_same(monkeypatch):
    monkeypatch.setattr(mechanisms, "poisson_sample", lambda units, q: np.zeros(units, dtype=bool))
    for adjacency, width in (("zero-out", 2.0 * CLIP), ("replace-one", 2.0 * 2 * CLIP)):
        _, held = bound(adjacency=adjacency)
        toy = Toy()
        held.train_dp("t", toy, settings(steps=600, noise_multiplier=2.0, keep_every=600), fingerprint="f")
        drawn = 6.0 * np.array([torch.cat([part.reshape(-1) for part in step]).tolist() for step in toy.taken])
        assert np.std(drawn) == pytest.approx(width, rel=0.06)  # 4,200 draws: 5.5 standard errors
        assert len(np.unique(drawn, axis=0)) == len(drawn)


def test_noise_is_drawn_from_the_system_and_is_gaussian():
    from scipy.stats import kstest

    first, second = (np.concatenate([p.ravel() for p in gaussian_noise([(300, 20), (500,)], 3.0)]) for _ in range(2))
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.07
    assert kstest(first / 3.0, "norm").pvalue > 1e-6
    torch.manual_seed(0)
    np.random.seed(0)
    third = gaussian_noise([(500,)], 3.0)[0]
    torch.manual_seed(0)
    np.random.seed(0)
    assert not np.array_equal(third, gaussian_noise([(500,)], 3.0)[0])


@pytest.mark.parametrize(("adjacency", "epsilon"), [("zero-out", 1.828), ("replace-one", 2.843)])
def test_the_event_costs_what_is_known_of_it(adjacency, epsilon):
    # q = 0.01, T = 1,000, noise of one C; under replace-one the same noise is half of what a unit moves
    multiplier = 1.0 if adjacency == "zero-out" else 0.5
    asked = settings(steps=1000, noise_multiplier=multiplier, sampling_probability=0.01)
    event = train.event_of(asked, "record", adjacency)
    assert event.noise_multiplier * event.sensitivity == pytest.approx(CLIP)
    assert account([event], 1e-5).epsilon == pytest.approx(epsilon, abs=2e-3)
    assert Event.from_dict(event.as_dict()) == event


class Watching(MemoryOutputs):
    """Outputs that note when they were saved."""

    def __init__(self):
        super().__init__()
        self.toy = None
        self.steps_at_save = []

    def save(self, key, request, event, values):
        self.steps_at_save.append(len(self.toy.taken))
        super().save(key, request, event, values)


def test_the_whole_schedule_is_paid_before_the_first_step_and_once():
    outputs = Watching()
    data, held = bound(outputs=outputs)
    outputs.toy = toy = Toy()
    for until in (1, 2, None):
        progress = held.train_dp("training", toy, settings(steps=5), fingerprint="f", until=until)
    assert outputs.steps_at_save == [0]
    assert (progress.step, progress.total, len(progress.losses)) == (5, 5, 5)
    (event,) = held.events
    assert (event.count, event.what, event.geometry) == (5, train.WHAT, "vectors")
    assert data.openings == 1


class Killed(Exception):
    """A kill in the middle of a step."""


def dying(at):
    """Return a learner that dies while it takes this step, after the noise was drawn."""

    class Dying(Toy):
        def update(self, step, given):
            if step == at:
                raise Killed
            super().update(step, given)

    return Dying()


@pytest.mark.parametrize("keep_every", [1, 3])
def test_a_killed_training_goes_on_from_what_was_stored_and_pays_nothing_more(tmp_path, keep_every):
    outputs = MemoryOutputs()
    asked = settings(steps=8, keep_every=keep_every)
    _, held = bound(outputs=outputs)
    first = dying(5)
    with pytest.raises(Killed):
        held.train_dp("training", first, asked, fingerprint="f", folder=tmp_path)
    data, held = bound(outputs=outputs)
    second = Toy()
    progress = held.train_dp("training", second, asked, fingerprint="f", folder=tmp_path, until=0)
    stored = 5 if keep_every == 1 else 3
    assert progress.step == stored
    expected = [-sum(step[i] for step in first.taken[:stored]) for i in range(2)]
    for weight, one in zip(second.weights, expected, strict=True):
        torch.testing.assert_close(weight, one)
    assert data.openings == 0
    progress = held.train_dp("training", second, asked, fingerprint="f", folder=tmp_path)
    assert progress.step == 8
    assert len(second.taken) == 8 - stored
    assert list(outputs.stored) == ["training"]
    assert data.openings == 1
    for early, late in zip(first.taken[stored:], second.taken, strict=False):
        assert not torch.equal(early[0], late[0])  # a lost step is drawn anew


def test_what_was_shown_is_stored_first(tmp_path):
    outputs = MemoryOutputs()
    asked = settings(steps=8, keep_every=5)
    _, held = bound(outputs=outputs)
    toy = Toy()
    shown = held.train_dp("training", toy, asked, fingerprint="f", folder=tmp_path, until=2)
    _, again = bound(outputs=outputs)
    other = Toy()
    resumed = again.train_dp("training", other, asked, fingerprint="f", folder=tmp_path, until=0)
    assert resumed == shown
    for one, two in zip(toy.weights, other.weights, strict=True):
        assert torch.equal(one, two)


def test_a_cancelled_step_draws_no_noise(monkeypatch):
    drawn, asked = [], []
    whole = train.gaussian_noise
    monkeypatch.setattr(train, "gaussian_noise", lambda shapes, sigma: drawn.append(1) or whole(shapes, sigma))
    _, held = bound()

    def cancelled():
        asked.append(1)
        return len(asked) > 4  # in the middle of the second step

    progress = held.train_dp("training", Toy(), settings(), fingerprint="f", cancelled=cancelled)
    assert 0 < progress.step < 3
    assert len(drawn) == progress.step


def test_weights_that_are_lost_are_not_trained_again(tmp_path):
    outputs = MemoryOutputs()
    _, held = bound(outputs=outputs)
    held.train_dp("training", Toy(), settings(), fingerprint="f", folder=tmp_path, until=1)
    for path in tmp_path.iterdir():
        path.unlink()
    _, held = bound(outputs=outputs)
    with pytest.raises(UserError, match="cannot begin again"):
        held.train_dp("training", Toy(), settings(), fingerprint="f", folder=tmp_path)


def test_a_training_of_other_settings_is_not_taken_up(tmp_path):
    outputs = MemoryOutputs()
    _, held = bound(outputs=outputs)
    held.train_dp("training", Toy(), settings(), fingerprint="f", folder=tmp_path, until=1)
    for asked, fingerprint in ((settings(clip=1.0), "f"), (settings(), "g")):
        _, held = bound(outputs=outputs)
        with pytest.raises((UserError, InternalError)):
            held.train_dp("training", Toy(), asked, fingerprint=fingerprint, folder=tmp_path)


def test_steps_that_nothing_paid_for_are_refused(tmp_path):
    _, held = bound()
    held.train_dp("training", Toy(), settings(), fingerprint="f", folder=tmp_path, until=1)
    _, other = bound(outputs=MemoryOutputs())
    with pytest.raises(InternalError, match="ledger line"):
        other.train_dp("training", Toy(), settings(), fingerprint="f", folder=tmp_path)


def test_a_finished_training_is_taken_up_without_opening_the_data(tmp_path):
    outputs = MemoryOutputs()
    _, held = bound(outputs=outputs)
    first, second = Toy(), Toy()
    held.train_dp("training", first, settings(), fingerprint="f", folder=tmp_path)
    data, again = bound(table().head(3), outputs=outputs, units=6)
    again.train_dp("training", second, settings(), fingerprint="f", folder=tmp_path)
    assert data.openings == 0
    assert all(torch.equal(a, b) for a, b in zip(first.weights, second.weights, strict=True))
    assert again.events == held.events


@pytest.mark.parametrize("kind", ["memory", "folder"])
def test_a_keeper_gives_back_what_was_saved_last(kind, tmp_path):
    keeper = MemoryKeeper() if kind == "memory" else FolderKeeper(tmp_path / "deep")
    assert keeper.load() is None
    for step in (1, 2):
        keeper.save({"step": str(step)}, {"w": torch.full((2,), float(step))})
    about, tensors = keeper.load()
    assert about["step"] == "2"
    assert torch.equal(tensors["w"], torch.full((2,), 2.0))
    if kind == "folder":
        (path,) = (tmp_path / "deep").iterdir()
        assert path.stat().st_mode & 0o077 == 0
