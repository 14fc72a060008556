"""Figures of the study on noise in training: what they say of numbers made by hand."""

import math

import pandas as pd

from engine.studies.figures import figures

NAN = math.nan


def tables(proven):
    rows = [
        ("untuned", "perplexity_holdout", 20.0, 19.0, 21.0, 50),
        ("untuned", "perplexity_train", 20.5, 19.0, 22.0, 50),
        ("finetune (adapters)", "perplexity_holdout", 15.0, 14.0, 16.0, 50),
        ("finetune (adapters)", "perplexity_train", 9.0, 8.0, 10.0, 50),
        ("finetune (adapters)", "holdout_over_untuned", 0.75, 0.7, 0.8, 50),
        ("dp-finetune (ε = 1)", "perplexity_holdout", 20.1, 19.0, 21.0, 50),
        ("dp-finetune (ε = 1)", "perplexity_train", 20.0, 19.0, 21.0, 50),
        ("dp-finetune (ε = 1)", "holdout_over_untuned", 1.005, 0.99, 1.02, 50),
        ("dp-finetune (ε = 1)", "claimed_epsilon", 1.0, NAN, NAN, 100),
        ("dp-finetune (ε = 1)", "audited_epsilon_gradients", proven, NAN, NAN, 100),
    ]
    return {"summary": pd.DataFrame(rows, columns=["variant", "measure", "value", "low", "high", "n"])}


def test_perplexities_and_verdicts_are_said():
    made = dict(figures("finetune-perplexity", tables(0.4)))
    assert list(made) == ["perplexity", "audit"]
    said = made["perplexity"].takeaway
    assert "untuned 20.00, finetune (adapters) 15.00" in said
    assert "finetune (adapters) better" in said
    assert "dp-finetune (ε = 1) no different that one could tell" in said
    assert list(made["perplexity"].plot.data[0].error_y.array) == [1.0, 1.0, 21.0 - 20.1]
    assert "0.40 of 1" in made["audit"].takeaway
    assert [bar.name for bar in made["audit"].plot.data] == ["Claimed", "Proven on the noisy steps"]


def test_a_refuted_claim_is_said_so():
    assert "dp-finetune (ε = 1) is refuted" in dict(figures("finetune-perplexity", tables(1.4)))["audit"].takeaway


def test_untuned_alone_has_one_figure_and_nothing_none():
    alone = {"summary": tables(0.0)["summary"].iloc[:2]}
    assert [name for name, _ in figures("finetune-perplexity", alone)] == ["perplexity"]
    assert figures("finetune-perplexity", {}) == []
