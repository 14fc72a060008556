"""The card says how records were made and what was checked, and nothing measured on private data."""

from __future__ import annotations

import json
import math
import re
from typing import Literal

import pandas as pd
import pytest
from pydantic import BaseModel

from engine.dp.guarantee import Guarantee
from engine.examine.findings.findings import Finding
from engine.methods.base import MethodSpec
from engine.release import CardFacts, build_card, evaluate, get_policy, policies, write_bundle
from engine.release.policy.facts import GateFacts
from tests.release.bundles import READ


class Parameters(BaseModel):
    """Settings of all sorts."""

    temperature: float = 0.8
    strictness: Literal["mild", "strict"] = "strict"
    keep_labels: bool = True
    topic: str = ""
    blocked: tuple[str, ...] = ()
    seed: int = 0
    lowest: float | None = None


SPEC = MethodSpec(
    "filter", "Three-stage filter", "Writes new text.", "Someone 2024", "none", ("generator",), Parameters, "", ""
)
NONE = Guarantee("none", "No formal guarantee covers this run.", assumptions=("the topic is public",))


def card(**changes: object):
    arguments = {"method": SPEC, "guarantee": NONE, "policy": get_policy("research"), **changes}
    return build_card(CardFacts(**arguments))  # type: ignore[arg-type]


def forms(value: float) -> set[str]:
    """Ways a reader could meet this number: as it is, rounded, as per cent, with thousands separators."""
    shown = (
        {f"{value:.{k}f}" for k in (2, 3, 4)} | {f"{100 * value:.{k}f}" for k in (1, 2)} | {repr(value), f"{value:.3g}"}
    )
    if value == int(value):
        shown |= {str(int(value)), f"{int(value):,}"}
    return {text for text in shown if len(text.strip("0.,")) >= 2}


def test_bundle_holds_no_finding_and_no_private_quantity(tmp_path) -> None:
    """Every number known about the private data is searched for in every file outside the records."""
    findings = []
    private = {17389.0, 4321.0, 13127.0, 611.7}  # records, units, holdout, mean length of the corpus
    for i, name in enumerate(
        ("pipp_excess", "pipp_direct", "strict_alone_excess", "verbatim_8gram", "nearest_similarity")
    ):
        for j, reference in enumerate(("train", "holdout", "baseline")):
            value = 0.00137 + 0.000211 * i + 0.0000373 * j
            rest = (value / 2.1, value * 1.3, 7351 + 17 * i + j, reference, name, "lower is safer", "privacy")
            findings.append(Finding(name, value, *rest))  # type: ignore[arg-type]
    no_label = {"why": "no synthetic record has a label"}
    rest = (math.nan, None, None, 0, "train", "label_direct", "lower is safer", "privacy", no_label)
    findings.append(Finding("label_direct", *rest))  # type: ignore[arg-type]
    for f in findings[:-1]:
        private |= {f.value, float(f.low or 0), float(f.high or 0), float(f.n)}
    facts = GateFacts(
        approved=5813, rejected=1538, pending=0, stale=False, guarantee_kind="none", examined=True, originals=0,
        missed=READ, held=True, run_held=True,
    )  # fmt: skip
    private |= {5813.0, 1538.0, 7351.0}
    policy = get_policy("research")
    verdict = evaluate(policy, findings, facts)
    assert verdict.passed
    private |= {line.value for line in verdict.rules if line.value is not None and math.isfinite(line.value)}
    private -= {1.0}
    records = pd.DataFrame({"text": ["a made-up story"] * 5, "approval": "approved"})
    parameters = {"temperature": 0.83, "strictness": "strict", "topic": "Station 4711", "seed": 90125}
    bundle = write_bundle(
        tmp_path / "out", release_id="rel-1", records=records, policy=policy, verdict=verdict, sources=["other"],
        originals=["other"],
        card=card(policy=policy, parameters=parameters, versions={"understudy": "0.1.0"}),
    )  # fmt: skip
    beside = {"DATA_CARD.md", "README.md", "card.json", "policy.json", "ledger.json", "VERIFY.txt"}
    assert beside < set(bundle.files)
    for name in beside:  # the report and the Croissant file hold checksums, whose digits mean nothing
        numbers = set(re.findall(r"\d[\d.,]*\d|\d", (bundle.path / name).read_text()))
        for value in private:
            assert not numbers & forms(value), (name, value)
        text = (bundle.path / name).read_text()
        for word in ("90125", "4711", *(f.name for f in findings)):
            assert word not in text
    manifest = json.loads((bundle.path / "manifest.json").read_text())
    assert set(manifest) == {"format", "release", "created", "policy", "signed_by", "files"}


def test_settings_with_words_are_left_out() -> None:
    content = card(parameters={
        "temperature": 0.7, "strictness": "mild", "keep_labels": False, "lowest": None, "seed": 5,
        "topic": "Mrs Miller's letters", "blocked": ("Miller",), "unknown": "Miller", "odd": float("nan"),
    }).content  # fmt: skip
    assert {line["setting"]: line["value"] for line in content["settings"]} == {
        "temperature": 0.7, "strictness": "mild", "keep labels": False, "lowest": None,
    }  # fmt: skip
    assert content["settings_not_shown"] == ["blocked", "odd", "topic", "unknown"]
    assert "Miller" not in json.dumps(content)


def test_original_is_named_only_if_the_custodian_does() -> None:
    assert card().content["source"] == "not named"
    assert "Letters of a clinic" in card(source="Letters of a clinic").markdown


@pytest.mark.parametrize("policy", policies(), ids=lambda p: p.id)
def test_card_says_method_settings_guarantee_policy_and_limits(policy) -> None:
    text = card(policy=policy, parameters={"temperature": 0.7}, model="built-in").markdown
    for expected in (
        "Three-stage filter", "Someone 2024", "| temperature | 0.7 |", "built-in", "No formal guarantee",
        "the topic is public", policy.title, "## Limits", "apostrophe", *(rule.sentence for rule in policy.rules),
    ):  # fmt: skip
        assert expected in text
    copied = policy.requirements.longest_copied_words
    assert (f"more than {copied} consecutive words" in text) is (copied is not None)
    met, limits = text.split("each of these was met")[1].split("## Limits")
    assert "were not searched for" not in met, "what was not looked for is not what was met"
    assert ("were not searched for" in limits) is (copied is None)


def test_formal_claim_holds_before_selection() -> None:
    formal = Guarantee("dp", "One record changes little.", "the output", 1.0, 1e-6, "record", "zero-out")
    text = card(guarantee=formal).markdown
    assert "ε = 1.0" in text
    assert "differential privacy before selection" in text
    assert "does not cover that choice" in text
    assert "epsilon" not in card().content["guarantee"]


def test_formal_claim_of_a_whole_output_that_nothing_private_chose_from_stands() -> None:
    formal = Guarantee("dp", "One record changes little.", "the output", 1.0, 1e-6, "record", "zero-out")
    built = card(guarantee=formal, selected=False)
    assert "before selection" not in built.markdown
    assert "covers these records as they are" in built.markdown
    assert built.content["guarantee"]["selected"] is False
    assert "before selection" in card(guarantee=formal, selected=True).markdown
    assert "selected" not in card(selected=False).content["guarantee"]


def test_typed_words_stay_words() -> None:
    text = card(title="# Big\n\n![x](http://example.org/a.png)", source="<script>alert(1)</script>").markdown
    assert "![" not in text
    assert "\\<script\\>" in text
    assert text.splitlines()[0].startswith("# \\# Big")


def test_json_and_markdown_agree() -> None:
    built = card(title="My records", licence="CC BY 4.0")
    assert json.loads(built.json()) == built.content
    assert "CC BY 4.0" in built.markdown
