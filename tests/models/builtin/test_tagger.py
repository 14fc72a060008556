"""The tagger: shipped weights, windows, thresholds, speed of the plain parts, refusals."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from engine.errors import UserError
from engine.models.builtin import minilm
from engine.models.builtin.tagger.tagger import MAX_PIECES, TAGS, TYPES, TaggerNet, encode, load_tokenizer, word_shape
from engine.models.builtin.tagger.tagger_run import FOLDER, STRIDE, Tagger, _starts, load_tagger
from engine.models.builtin.tagger.tagger_spans import rescale


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return load_tagger()


def values(tagger: Tagger, text: str) -> set[tuple[str, str]]:
    return {(text[t.start : t.end], t.label) for t in tagger.tag([text])[0] if t.score >= 0.5}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "Sergei Ivanov moved from Kazan to Utrecht in 1998.",
            {("Sergei Ivanov", "PERSON"), ("Kazan", "LOCATION"), ("1998", "DATE")},
        ),
        ("spoke with wanjiru kamau in nairobi on tuesday", {("wanjiru kamau", "PERSON"), ("nairobi", "LOCATION")}),
        (
            "AMINA DIALLO WAS SEEN AT LEEDS GENERAL HOSPITAL",
            {("AMINA DIALLO", "PERSON"), ("LEEDS GENERAL HOSPITAL", "ORGANISATION")},
        ),
        (
            "The Gdynia District Court fined him PLN 4,000 (case no. 1123/07).",
            {("Gdynia District Court", "ORGANISATION")},
        ),
    ],
)
def test_finds_people_places_dates(tagger: Tagger, text: str, wanted: set) -> None:
    assert wanted <= values(tagger, text)


def test_eponyms_and_drugs_stay(tagger: Tagger) -> None:
    assert values(tagger, "Parkinson's disease, Crohn's disease and asthma were treated with prednisone.") == set()


def test_empty_and_odd_texts(tagger: Tagger) -> None:
    for text in ("", "   ", "\n", "\x00", "😀", "\u0301"):
        for tag in tagger.tag([text])[0]:
            assert 0 <= tag.start < tag.end <= len(text)


def test_a_text_alone_and_in_a_batch_is_tagged_alike(tagger: Tagger) -> None:
    text = "Sergei Ivanov moved from Kazan to Utrecht in 1998."
    alone = tagger.tag([text])[0]
    beside = tagger.tag(["x " * 300, text, ""])[1]
    assert [(t.start, t.end, t.label) for t in alone] == [(t.start, t.end, t.label) for t in beside]


def test_a_name_across_a_window_s_edge_is_whole(tagger: Tagger) -> None:
    for filler in range(MAX_PIECES - 4, MAX_PIECES + 3):
        text = "word " * filler + "Sergei Ivanov left."
        assert ("Sergei Ivanov", "PERSON") in values(tagger, text)


@pytest.mark.parametrize("n", [0, 1, MAX_PIECES, MAX_PIECES + 1, 3 * MAX_PIECES, 5000])
def test_windows_cover_everything_and_overlap(n: int) -> None:
    starts = _starts(n)
    covered = {i for s in starts for i in range(s, min(s + MAX_PIECES, n))}
    assert covered == set(range(n))
    assert all(b - a <= STRIDE for a, b in pairwise(starts))


def test_rescaling_puts_the_threshold_at_one_half() -> None:
    p = np.array([[0.0, 0.0], [0.1, 0.35], [0.2, 0.7], [1.0, 1.0]], dtype=np.float32)
    assert rescale(p, np.array([0.2, 0.7], dtype=np.float32)) == pytest.approx(
        np.array([[0, 0], [0.25, 0.25], [0.5, 0.5], [1, 1]]), abs=1e-6
    )


@pytest.mark.parametrize(
    ("word", "shape"), [("anna", 0), ("Anna", 1), ("ANNA", 2), ("McKay", 3), ("A", 4), ("12", 0), ("İzmir", 1), ("", 0)]
)
def test_word_shape(word: str, shape: int) -> None:
    assert word_shape(word) == shape


def test_offsets_of_pieces_are_code_points() -> None:
    text = "😀 Jose\u0301 in İzmir"
    pieces = encode(load_tokenizer(minilm.base_folder()), [text])[0]
    assert text[pieces.starts[-1] : pieces.ends[-1]].endswith("mir")
    assert all(0 <= a <= b <= len(text) for a, b in zip(pieces.starts, pieces.ends))


def test_shipped_weights_are_small_and_leave_the_base_alone() -> None:
    from safetensors import safe_open

    path = FOLDER / "model.safetensors"
    assert path.stat().st_size <= 24_000_000
    with safe_open(str(path), "pt") as file:
        names = list(file.keys())
        assert not any("word_embeddings" in n or "position_embeddings" in n for n in names)
        assert all(file.get_tensor(n).dtype == torch.float16 for n in names)
    config = json.loads((FOLDER / "config.json").read_text())
    assert config["base_sha256"] == minilm.SHA256
    assert set(config["thresholds"]) <= set(TYPES)


def test_other_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no config.json"):
        Tagger(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"base_sha256": "0", "tags": list(TAGS)}))
    with pytest.raises(UserError, match="another base model"):
        Tagger(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps({"base_sha256": minilm.SHA256, "tags": list(TAGS)}))
    with pytest.raises(UserError, match=r"no model.safetensors"):
        Tagger(tmp_path)


def test_a_few_steps_of_training_lower_the_loss() -> None:
    from engine.training.tagger.__main__ import loss_of
    from engine.training.tagger.data import allowed_table, windows
    from engine.training.tagger.made import made_documents

    torch.manual_seed(0)
    rng = random.Random(0)
    folder = minilm.base_folder()
    net = TaggerNet(folder)
    batch = windows(load_tokenizer(folder), made_documents(6, rng), rng)[:6]
    table = torch.from_numpy(allowed_table())
    optimiser = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad], 5e-4)
    losses = []
    for _ in range(4):
        loss = loss_of(net, batch, table)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.7 * losses[0]
