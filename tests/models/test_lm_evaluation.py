"""The built-in model against a 3-gram model: the record beside the weights, and measured here."""

import json
import math

import numpy as np

from engine.models.builtin import lm_folder
from engine.models.builtin_lm import load_builtin_generator
from engine.models.lm_data import Document, split
from engine.models.ngram_baseline import KneserNey


def test_recorded_evaluation_beats_the_3gram_in_every_kind():
    recorded = json.loads((lm_folder() / "evaluation.json").read_text("utf-8"))["kinds"]
    assert len(recorded) >= 6
    for kind, row in recorded.items():
        assert row["bits_per_byte"] < row["bits_per_byte_3gram"], kind


def test_held_out_narratives_cost_less_than_with_a_3gram(test_data):
    import pyarrow.parquet as pq

    texts = pq.read_table(test_data / "lm" / "vaers_1990_1997.parquet", columns=["text"])["text"].to_pylist()
    train, held = split([Document(text.strip(), "clinical", "narrative") for text in texts])
    generator = load_builtin_generator()

    def encode(documents):
        entries = generator.tokenizer.encode_batch([d.text for d in documents], add_special_tokens=False)
        return [np.array([*entry.ids, 2], dtype=np.uint64) for entry in entries]

    baseline = KneserNey(encode(train[::2]), generator.net.config.vocab_size, 1)
    chosen = held[::8]  # rows are ordered by year
    neural = -sum(float(values.sum()) for values in generator.score([d.text for d in chosen])) / math.log(2)
    three_gram = sum(map(baseline.bits, encode(chosen)))
    assert neural < three_gram
