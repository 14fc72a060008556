"""The control-code study in a worker with a server's model: its table's number, and the prompts it was started with."""

import re

import pytest

from engine import open_workspace
from engine.errors import UserError
from tests.jobs.conftest import wait
from tests.models.serving import serving


@pytest.fixture
def workspace(tmp_path):
    opened = open_workspace(tmp_path / "workspace", "tester")
    yield opened
    opened.jobs.stop_worker()
    opened.close()


@pytest.mark.slow
def test_another_model_gives_table_5_by_the_prompts_of_its_start(workspace):
    corpus = workspace.corpora.import_sample("support_tickets")
    workspace.review.use_gold(corpus.id)
    asked = {"methods": ["icl", "control-icl-blocked"], "count": 2, "repeats": 2, "utility": False, "minimum_tokens": 4}
    for domain in ("generic", "social", "reviews", "clinical", "legal"):  # the run guesses which
        workspace.prompts.set(domain, "from_examples", "Anew: {% for e in examples %}{{ e }} {% endfor %}")
        workspace.prompts.set(domain, "system", "Be plain.")
    version = workspace.prompts.version()
    with serving("--plain") as served:
        workspace.models.add_endpoint(
            {"name": "near", "url": served.url, "model": "builtin", "api": "chat", "prompts": "instruct"}
        )
        with pytest.raises(UserError, match="can be trained"):
            workspace.studies.start(corpus.id, "control-codes", {**asked, "utility": True}, model="endpoint:near")
        job = workspace.studies.start(corpus.id, "control-codes", asked, model="endpoint:near")
        for domain in ("generic", "social", "reviews", "clinical", "legal"):
            workspace.prompts.reset(domain)
        assert wait(workspace, job, seconds=180).error is None
        begins = served.stats()["begins"]
    run = workspace.studies.run(job)
    assert (run.model, run.prompts) == ("endpoint:near", version) != ("endpoint:near", workspace.prompts.version())
    assert {begin[:9] for begin in begins} == {"Be plain."}
    assert (
        sum("Anew: " in begin for begin in begins) >= 4
    )  # two texts, twice; the other method has a template of its own
    found = workspace.studies.results(job)
    assert "table_1" not in found
    table = found["table_5"].set_index("method")
    assert list(table["in the paper"]) == ["Baseline", "ICL w/ privacy enhancement"]
    assert list(table["repeats"]) == ["2", "2"]
    # two repeats: the mean with half its interval, or with both ends where one is cut at 0 or 1
    assert re.fullmatch(r"[\d.]+ (± [\d.]+|\([\d.]+ to [\d.]+\))", table.loc["icl", "rouge_l"])
    assert found["runs"].loc[found["runs"]["method"] == "control-icl-blocked", "pipp"].tolist() == [0.0, 0.0]
