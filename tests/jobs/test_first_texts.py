"""Five texts for a public description, in a real worker: shown as they come, kept, and what they say of the model."""

from __future__ import annotations

import json
import re

import pytest

from engine.errors import UserError
from engine.models.offered.likeness import NEAR
from tests.jobs.conftest import MAPPING, made_up, wait


@pytest.fixture
def corpus(workspace):
    return workspace.corpora.import_table(made_up(40), MAPPING, name="Letters").id


@pytest.mark.slow
def test_a_model_writes_five_texts_for_the_description_and_reads_nothing_private(workspace, corpus):
    with pytest.raises(UserError, match="has none yet"):
        workspace.first_look.write("builtin", corpus)
    assert workspace.first_look.of("builtin", corpus).state == "none"
    assert workspace.first_look.unlike("builtin", corpus) == ""
    workspace.descriptions.declare(corpus, "vaccine side effect report", "en", "clinical")
    before = workspace.audit.lines()["action"].tolist()
    job = workspace.first_look.write("builtin", corpus)
    assert workspace.first_look.write("builtin", corpus) == job  # asked twice, written once
    assert wait(workspace, job, seconds=120).error is None
    found = workspace.first_look.of("builtin", corpus)
    assert found.state == "done"
    assert len(found.result["texts"]) == 5
    assert len(set(found.result["texts"])) == 5
    assert found.result["description"] == {"kind": "vaccine side effect report", "language": "en", "domain": "clinical"}
    assert found.result["tokens"] > 50
    assert found.result["cosine"] > NEAR  # it learned from such reports
    assert workspace.first_look.unlike("builtin", corpus) == ""
    assert workspace.audit.lines()["action"].tolist() == before  # nothing private was touched, so nothing is logged

    workspace.descriptions.declare(corpus, "football match report", "en", "generic")
    assert workspace.first_look.of("builtin", corpus).state == "none"  # written for another description
    assert "has not learned from text called" in workspace.first_look.unlike("builtin", corpus)
    wait(workspace, workspace.first_look.write("builtin", corpus), seconds=120)
    far = workspace.first_look.of("builtin", corpus).result["cosine"]
    assert far < NEAR < found.result["cosine"]
    assert "are not about that" in workspace.first_look.unlike("builtin", corpus)


def test_the_description_is_declared_kept_and_asked_with(workspace, corpus):
    assert workspace.descriptions.get(corpus) is None
    plain = workspace.plan.draft(corpus, "public")
    assert not any("writes English alone" in warning for warning in plain.warnings)
    workspace.descriptions.declare(corpus, "cooking recipe", "de", "generic")
    detail = json.loads(workspace.audit.lines().query("action == 'description declared public'")["detail"].iloc[0])
    assert re.fullmatch(r"[0-9a-f]{64}", detail.pop("row"))  # the keyed digest of what was declared
    assert detail == {"kind": "cooking recipe", "language": "de", "domain": "generic"}
    drafted = workspace.plan.draft(corpus, "public")
    assert any("writes English alone" in warning for warning in drafted.warnings)
    spec = next(spec for spec in workspace.plan.methods() if spec.id == "public")
    given = workspace.plan.completed(spec, {}, corpus)
    assert (given["kind"], given["domain"]) == ("cooking recipe", "generic")  # the prompts are German themselves
    workspace.descriptions.declare(corpus, "cooking recipe", "ja", "generic")
    assert workspace.plan.completed(spec, {}, corpus)["kind"] == "cooking recipe, in Japanese"
    assert workspace.plan.completed(spec, {"kind": "memo", "domain": "legal"}, corpus) == {
        "kind": "memo", "domain": "legal",
    }  # fmt: skip
    surrogate = workspace.plan.draft(corpus, "surrogate")  # asks no model
    assert not any("writes English alone" in warning for warning in surrogate.warnings)
    with pytest.raises(UserError, match="kind"):
        workspace.descriptions.declare(corpus, "letter of patient 12345")


def test_a_server_elsewhere_is_not_asked_without_a_consent(workspace, corpus):
    workspace.models.add_endpoint({"name": "far", "url": "https://models.example.com/v1", "model": "big"})
    workspace.descriptions.declare(corpus, "discharge letter")
    with pytest.raises(UserError, match="give a consent"):
        workspace.first_look.write("endpoint:far", corpus)
