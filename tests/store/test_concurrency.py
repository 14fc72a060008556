"""Two processes, and several threads of one, write to a workspace at once."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from engine.store.store import Store
from tests.store.conftest import MAPPING, made_up
from tests.store.making import finished_run

ROOT = Path(__file__).resolve().parents[2]
DECIDE = """
import sys
from pathlib import Path
from engine.store.store import Store
from tests.store.span_tables import add_span
store = Store(Path(sys.argv[1]), actor=sys.argv[3])
corpus, odd = sys.argv[2], int(sys.argv[4])
sys.stdin.readline()
for i in range(odd, 40, 2):
    spans = [span.span_id for span in store.review.spans(corpus, f"id{i}")]
    store.review.decide(corpus, spans, "reject" if i % 4 < 2 else "accept")
    add_span(store, corpus, f"id{i}", 0, 6, "CODE")
    store.settings.set(f"{sys.argv[3]}-{i}", i)
print("done")
"""
OPEN = """
import sys
from pathlib import Path
from engine.store.store import Store
from tests.store.conftest import MAPPING, made_up
sys.stdin.readline()
store = Store(Path(sys.argv[1]), actor=sys.argv[2])
store.corpora.import_table(made_up(), MAPPING, name=sys.argv[2])
print(store.session.key.hex())
"""


def together(script, *argument_lists):
    """Run a script in several processes that begin at the same moment and return their outputs."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", script, *arguments],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for arguments in argument_lists
    ]
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    outputs = [process.communicate(timeout=120)[0].strip() for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes)
    return outputs


def test_two_processes_decide_at_once_and_lose_nothing(store, corpus):
    path = str(store.path)
    assert together(DECIDE, [path, corpus.id, "anna", "0"], [path, corpus.id, "ben", "1"]) == ["done", "done"]
    counts = store.review.span_counts(corpus.id)
    assert (counts["decided"], counts["by_label"]["CODE"]) == (120, 40)
    assert (counts["rejected"], counts["accepted"]) == (40, 80)
    assert store.settings.get("anna-38") == 38
    assert store.settings.get("ben-39") == 39
    with store.session.db.read() as connection:
        actors = connection.exec_driver_sql("SELECT actor, count(*) FROM decisions GROUP BY actor ORDER BY actor").all()
        batches = connection.exec_driver_sql("SELECT count(DISTINCT batch) FROM decisions").scalar()
        stale = connection.exec_driver_sql(
            "SELECT count(*) FROM record_index AS r WHERE r.spans != (SELECT count(*) FROM spans AS s WHERE "
            "s.corpus_id = r.corpus_id AND s.position = r.position AND s.active)"
        ).scalar()
    assert [tuple(a) for a in actors] == [("anna", 60), ("ben", 60)]
    assert batches == 80
    assert stale == 0


def test_two_processes_create_one_workspace(tmp_path):
    path = str(tmp_path / "new")
    keys = together(OPEN, [path, "anna"], [path, "ben"])
    assert keys[0] == keys[1]
    store = Store(Path(path))
    first, second = store.corpora.all()
    assert first.population == second.population
    assert store.audit.verify() == {"ok": True, "lines": 2, "first_bad": None}


def test_tabs_of_one_process_approve_at_once(store, corpus):
    run_id = finished_run(store, corpus, [f"text {i}" for i in range(40)])
    before = store.audit.verify()["lines"]

    def tab(first):
        return sum(store.runs.approve(run_id, [f"s-{i + 1:06d}"], "approved") for i in range(first, 40, 4))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(tab, range(4))) == [10] * 4
    assert store.runs.approval_counts(run_id)["approved"] == 40
    assert store.audit.verify()["lines"] == before + 40


def test_a_reader_sees_one_state_while_another_writes(store, corpus):
    """A page that reads twice in one transaction sees the same, whatever is committed meanwhile."""
    with store.session.db.read() as reader:
        before = reader.exec_driver_sql("SELECT count(*) FROM spans").scalar()
        store.corpora.import_table(made_up(5, 900), MAPPING, name="More", holdout=0)
        assert reader.exec_driver_sql("SELECT count(*) FROM spans").scalar() == before
    with store.session.db.read() as reader:
        assert reader.exec_driver_sql("SELECT count(*) FROM spans").scalar() == before + 10
