"""Studies over settings in a real worker with the built-in models: whole, internal, nothing spent; stopped, resumed."""

from __future__ import annotations

import pytest

from engine.studies.base import INTERNAL
from engine.studies.figures import figures
from tests.jobs.conftest import wait
from tests.store.conftest import MAPPING, made_up

pytestmark = pytest.mark.slow
QUICK = "words=12, domain=clinical, unreadable=flag"
MEASURES = "kid, js_2gram, next_word, neighbours_jaccard_1, verbatim_8gram"
ASKED = {
    "epsilon-sweep": {"methods": "aug-pe", "epsilons": "1, 8", "settings": f"{QUICK}, rounds=1, variations=2"},
    "repeats": {"first": "surrogate", "second": "public", "second_settings": QUICK},
    "evolution-ablation": {
        "rounds": 2,
        "without": "length",
        "settings": f"{QUICK}, longest=30, keyword_count=8",
        "measures": "kid, alike",
    },
    "dp-methods": {
        "methods": "aug-pe, dp-topics, dp-select",
        "sizes": "40",
        "epsilons": "4",
        "pool": "made",
        "measures": "kid, js_2gram",
        "settings": f"{QUICK}, rounds=1, variations=2, candidates=1",
    },
    "rpsg-grid": {
        "sizes": "20, 24",
        "temperatures": "1.0",
        "measures": "js_2gram, self_bleu",
        "settings": "oversampling=4, candidates=2, minimum_tokens=5, maximum_tokens=30, nll_keep=1, similarity_keep=1, "
        "epochs=1, domain=clinical, unreadable=flag",
    },
}
REPEATS = {"epsilon-sweep": 3, "repeats": 3, "evolution-ablation": 2, "dp-methods": 2, "rpsg-grid": 2}
CELLS = {"epsilon-sweep": 4, "repeats": 2, "evolution-ablation": 2, "dp-methods": 4, "rpsg-grid": 2}


@pytest.fixture
def corpus(workspace):
    """Return letters of one sentence with their gold spans chosen."""
    made = workspace.corpora.import_table(made_up(120), MAPPING, name="Letters", holdout=0.3)
    workspace.review.use_gold(made.id)
    pool = "text\n" + "".join(f"The garden was open on day {i} and {i + 3} guests came to see it.\n" for i in range(60))
    workspace.pools.import_file(pool.encode(), "p.csv", name="made", origin="made up", licence="CC0", declared=True)
    return workspace.corpora.get(made.id)


@pytest.mark.timeout(400)
@pytest.mark.parametrize("study", list(ASKED))
def test_it_runs_to_its_end_spends_nothing_and_shows_what_it_measured(workspace, corpus, study):
    before = workspace.ledger.of(corpus.id)
    sizes = {} if study == "rpsg-grid" else {"outputs": 40}
    measures = {"measures": MEASURES} if "measures" not in ASKED[study] else {}
    job = workspace.studies.start(corpus.id, study, {**sizes, **measures, "repeats": REPEATS[study], **ASKED[study]})
    assert wait(workspace, job, seconds=300).state == "done"
    run, tables = workspace.studies.run(job), workspace.studies.results(job)
    assert run.done == run.total == REPEATS[study] * CELLS[study]
    runs = tables["runs"]
    assert runs["value"].notna().mean() > 0.9
    assert not set(runs.columns) & {"text", "record_id"}
    assert tables["time"]["left"].tolist() == ["done"]
    made = figures(study, tables)
    assert made
    assert all(INTERNAL in figure.caveat for _, figure in made)
    after = workspace.ledger.of(corpus.id)
    assert after.share == before.share
    kinds = after.lines["kind"].tolist()
    assert kinds.count("touch") == before.lines["kind"].tolist().count("touch") + 1
    assert not {"spend", "reserve"} & set(kinds)


@pytest.mark.timeout(600)
def test_a_cancelled_study_keeps_its_runs_and_goes_on(workspace, corpus):
    asked = {"outputs": 20, "repeats": 3, "measures": "kid", **ASKED["repeats"]}
    job = workspace.studies.start(corpus.id, "repeats", asked)
    while workspace.studies.run(job).done < 1:
        assert wait(workspace, job, seconds=300, reach=1).state not in ("failed", "cancelled")
    workspace.jobs.cancel(job)
    assert wait(workspace, job, seconds=300).state in ("cancelled", "done")
    kept = workspace.studies.results(job)["runs"]
    if workspace.studies.run(job).state == "cancelled":
        workspace.studies.resume(job)
        assert wait(workspace, job, seconds=300).state == "done"
    runs = workspace.studies.results(job)["runs"]
    assert len(runs) == 6
    assert runs.head(len(kept))["value"].equals(kept["value"])
