"""The sentiment classifiers: the built-in one on unseen words, and a model folder made here."""

from __future__ import annotations

import json

import numpy as np
import pytest

from engine.errors import UserError
from engine.models.builtin.sentiment import (
    BuiltinSentiment,
    FolderSentiment,
    columns_of,
    load_sentiment,
    sentiment_folder,
)
from engine.models.builtin.sentiment_sentences import CLASSES, make, read_grammar
from engine.training.sentiment import weak_label


@pytest.fixture(scope="module")
def embedder():
    from engine.models.builtin.embedder import load_embedder

    return load_embedder()


@pytest.fixture(scope="module")
def model(embedder):
    return load_sentiment(None, embedder)


def test_unseen_templates_and_words_are_told_apart(model):
    texts, classes, _ = make(read_grammar(sentiment_folder() / "made.yaml"), 240, 11, "held")
    found = model.predict(texts)
    assert found.shape == (240, 3)
    assert found.dtype == np.float32
    assert np.allclose(found.sum(axis=1), 1, atol=1e-5)
    assert (found.argmax(axis=1) == classes).mean() > 0.8


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We had a lovely stay and the staff made us feel at home.", "positive"),
        ("I am furious, they lost my parcel and nobody apologised.", "negative"),
        ("The bus to the station leaves every twenty minutes.", "neutral"),
        ("The child had convulsions and severe pain after the shot.", "negative"),
    ],
)
def test_sentences_of_other_hands(model, text, expected):
    assert CLASSES[int(model.predict([text])[0].argmax())] == expected


def test_no_text_gives_no_row(model):
    assert model.predict([]).shape == (0, 3)


def test_evaluation_says_where_labels_come_from():
    folder = sentiment_folder()
    report = json.loads((folder / "evaluation.json").read_text("utf-8"))
    assert "No sentence was labelled by people" in report["labels"]
    assert report["held_out_templates_and_words"]["accuracy"] > 0.8
    assert sum(path.stat().st_size for path in folder.iterdir()) < 1_000_000


def test_held_out_words_are_in_no_training_sentence():
    grammar = read_grammar(sentiment_folder() / "made.yaml")
    for words in (*grammar["words"].values(), grammar["when"], *(d["topics"] for d in grammar["domains"].values())):
        assert not set(words["train"]) & set(words["held"])
    seen = " ".join(make(grammar, 900, 1, "train")[0]).lower()
    assert not [w for w in grammar["words"]["positive_adj"]["held"] if f" {w} " in seen]


def test_the_built_in_one_refuses_another_encoder(embedder):
    class Other:
        id = "other"

        def embed(self, texts):
            return embedder.embed(texts)

    with pytest.raises(UserError, match="reads embeddings of all-MiniLM-L6-v2, got 'other'"):
        BuiltinSentiment(Other())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A tiny random BERT classifier with a word-level vocabulary."""
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    path = tmp_path_factory.mktemp("classifier")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "good", "bad", "day"]
    (path / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    BertTokenizerFast(vocab_file=str(path / "vocab.txt")).save_pretrained(path)
    names = {0: "POSITIVE", 1: "NEGATIVE"}
    config = BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=32, num_labels=2, id2label=names, label2id={v: k for k, v in names.items()},
    )  # fmt: skip
    BertForSequenceClassification(config).save_pretrained(path)
    return path


def test_a_folder_with_two_labels_has_no_neutral(folder, embedder):
    model = load_sentiment(str(folder), embedder)
    assert isinstance(model, FolderSentiment)
    found = model.predict(["good day", "bad " * 200, "day"])
    assert found.shape == (3, 3)
    assert np.allclose(found.sum(axis=1), 1, atol=1e-5)
    assert (found[:, 1] == 0).all()
    logits = model.model(**model.tokenizer(["good day"], return_tensors="pt")).logits[0].softmax(-1).tolist()
    assert found[0] == pytest.approx([logits[1], 0, logits[0]], abs=1e-5)  # columns follow the names


def test_a_folder_without_safetensors_is_refused(folder, tmp_path):
    for file in folder.iterdir():
        if file.name != "model.safetensors":
            (tmp_path / file.name).write_bytes(file.read_bytes())
    with pytest.raises(UserError, match="safetensors weights"):
        FolderSentiment(tmp_path)


@pytest.mark.parametrize("names", [{0: "LABEL_0", 1: "LABEL_1"}, {0: "positive", 1: "neutral"}])
def test_labels_that_are_no_sentiment_are_refused(names):
    with pytest.raises(UserError, match="labels must be negative, positive"):
        columns_of(names)


@pytest.mark.parametrize(
    ("sentence", "label"),
    [
        ("They were happy and full of hope.", 2),
        ("She had a fever and wept.", 0),
        ("The river flows south.", 1),
        ("He was happy in his pain.", None),  # both poles
        ("There was no pain and no fever.", None),  # negated
        ("She felt joy.", None),  # one word is too little
    ],
)
def test_weak_labels(sentence, label):
    assert weak_label(sentence) == label
