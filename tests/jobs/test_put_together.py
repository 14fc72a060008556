"""Notes of one person over time, in two columns, from the file to the bundle: the order stays, and dates stay apart."""

from __future__ import annotations

import csv
import io
import re
from datetime import date, timedelta
from itertools import pairwise

from engine.corpus.columns.mapping import ColumnMapping
from engine.release import verify
from tests.cli.in_process import run
from tests.jobs.conftest import wait

PEOPLE, NOTES = 12, 3
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def file() -> tuple[bytes, dict[str, list[date]]]:
    """Return a table of notes in no order, and each person's days in theirs."""
    rows, days = [], {}
    for person in range(PEOPLE):
        days[f"p{person}"] = [date(1999, 1, 4) + timedelta(days=11 * person + 9 * n * n + n) for n in range(NOTES)]
        for n, day in enumerate(days[f"p{person}"]):
            rows.append((f"p{person}", f"{day.month}/{day.day}/{day.year}", f"Visit {n} because of a sore knee.",
                         f"Rest, ice, then see Ms Hvalros about step {n}."))  # fmt: skip
    rows.sort(key=lambda row: hash(row[2] + row[0]) % 97)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerows([("patient", "seen", "complaint", "plan"), *rows])
    return out.getvalue().encode(), days


def test_notes_of_a_person_keep_their_order_and_the_time_between_them(workspace):
    data, days = file()
    mapping = ColumnMapping("complaint", source_id="patient", more_texts=("plan",), order="seen")
    corpus = workspace.corpora.import_file(
        data, "notes.csv", mapping, name="Notes over time", unit="source", holdout=0.1
    )
    assert (corpus.records, corpus.units, corpus.cap) == (PEOPLE, PEOPLE, 1)
    text = workspace.corpora.records(corpus.id, limit=1)["text"][0]
    assert [int(n) for n in re.findall(r"Visit (\d)", text)] == list(range(NOTES))
    assert text.count("plan:\n") == NOTES
    assert wait(workspace, workspace.jobs.detect(corpus.id)).state == "done"
    run = workspace.runs.get(workspace.jobs.synthesize(corpus.id, "surrogate", seed=2))
    assert wait(workspace, run.job_id).state == "done"
    real = {who: [(b - a).days for a, b in pairwise(seen)] for who, seen in days.items()}
    records = workspace.corpora.frame(corpus.id, "train").set_index("record_id")["source_id"]
    made = workspace.runs.synthetic_frame(run.id)
    assert len(made)
    for text, record in zip(made["text"], made["lineage"], strict=True):
        assert [int(n) for n in re.findall(r"Visit (\d)", text)] == list(range(NOTES))
        assert "Hvalros" not in text
        seen = [date(int(y), int(m), int(d)) for m, d, y in re.findall(r"^(\d+)/(\d+)/(\d{4})$", text, re.M)]
        assert len(seen) == NOTES, "each note stands under its day"
        who = records[record]
        assert [(b - a).days for a, b in pairwise(seen)] == real[who]
        assert all(one != before for one, before in zip(seen, days[who])), "and the days are others"
    workspace.runs.approve_all_pending(run.id)
    bundle = workspace.folder.path.parent / "bundle"
    workspace.jobs.stop_worker()
    assert set(workspace.runs.synthetic_frame(run.id)["approval"]) == {"approved"}
    job = workspace.jobs.examine(run.id, model_attacks=False)
    assert wait(workspace, job, seconds=240).state == "done"
    verdict = workspace.releases.gate(run.id, "exploratory")
    assert verdict.passed, [line.sentence for line in verdict.rules if line.passed is not True]
    workspace.releases.make(run.id, "exploratory", out=bundle, accept_unbounded=True)
    assert verify(bundle)["ok"]


def test_the_command_line_puts_together_too(tmp_path):
    notes = tmp_path / "notes.csv"
    notes.write_bytes(file()[0])
    asked = ("import", notes, "--text", "complaint", "--also-text", "plan", "--in-order", "seen")
    made = run(tmp_path / "workspace", *asked)
    assert (made["records"], made["units"]) == (PEOPLE, PEOPLE), "the person's column is the one that is named so"
    assert any("one a person" in one for one in made["warnings"])
    assert "whose row" in run(tmp_path / "workspace", *asked, "--no-source", expect=1)
