"""A sample of another language the whole way: imported, its gold spans chosen, surrogates made, examined, released."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import engine
from engine.corpus.samples import OTHER_SAMPLES
from engine.pii.languages.pack import pack
from engine.pii.languages.pools import read_pools
from engine.pii.languages.telling import languages_of
from tests.cli.test_command_line import run

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]


@pytest.mark.parametrize("sample_id", [info.id for info in OTHER_SAMPLES])
def test_the_whole_way(tmp_path: Path, sample_id: str) -> None:
    code, folder = sample_id[-2:], tmp_path / "w"
    workspace = engine.open_workspace(folder, "test")
    corpus = workspace.corpora.import_sample(sample_id)
    assert corpus.records == next(i.records for i in OTHER_SAMPLES if i.id == sample_id)
    workspace.review.use_gold(corpus.id)
    try:
        made = run(folder, "synthesize", corpus.id, "--method", "surrogate")
        assert made["state"] == "done"
        assert made["records"] > 150
        assert run(folder, "examine", made["run"])["findings"]
        assert run(folder, "approve", made["run"])["approved_now"] == made["records"]
        released = run(
            folder, "release", made["run"], "--policy", "exploratory", "--out", tmp_path / "out", "--accept-unbounded"
        )
        assert run(folder, "verify", released["path"])
    finally:
        workspace.jobs.stop_worker()
    lines = (Path(released["path"]) / "records.jsonl").read_text(encoding="utf-8").splitlines()
    texts = [json.loads(line)["text"] for line in lines]
    told = languages_of(texts)
    assert told.count(code) >= 0.98 * len(texts)
    pools = read_pools(code)
    named = sum(any(re.search(rf"\b{re.escape(n)}\b", t) for n in pools.forenames) for t in texts)
    assert named >= 0.8 * len(texts)  # people of the country
    assert sum(any(m.lower() in t.lower() for m in pack(code).data.months) for t in texts) >= 0.6 * len(texts)
    for american in (" Street", " Avenue", "(555)"):
        assert not any(american in t for t in texts)
