"""Verbs of the command line killed (SIGKILL) at random moments: same records, one spend, no left-over.

Each kill forks a process that runs one verb on a copy of a small workspace and ends it after a random part of the time
that the verb takes; the next opening has to find a whole workspace: both logs hold, as does what they tell of, no file
is half-written, no bundle lies outside that nobody recorded, nothing was spent twice. Runs are gone on with by a worker
that is killed too, and end as one that nobody struck.

`-m slow` runs twenty kills, `-m long` a thousand.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from engine.errors import UserError
from engine.release import verify
from engine.store.logs.check import check_logs
from engine.store.store import Store
from tests.moving import moved
from tests.store.conftest import MAPPING, made_up
from tests.store.making import examine, finding
from tests.store.test_own_policies import OWN

pytestmark = [pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"), pytest.mark.timeout(5400)]
METHODS = ("surrogate", "public")
POLICY = "exploratory"


@dataclass(frozen=True)
class Ready:
    """A closed workspace: a corpus, a run that may leave, what undisturbed runs give, and files beside it."""

    path: Path
    corpus: str
    run: str
    release: str
    beside: Path
    expected: dict[str, list[tuple[str, str]]]


def said(path: Path, *words: object) -> int:
    """Run a verb in this process, its output thrown away, and return its exit status."""
    from engine.__main__ import main

    os.environ["UNDERSTUDY_WORKSPACE"] = str(path)
    with open(os.devnull, "w") as nothing, redirect_stdout(nothing), redirect_stderr(nothing):
        try:
            return main([str(word) for word in words])
        except SystemExit as ended:
            return int(ended.code or 0)


def records(store: Store, run: str) -> list[tuple[str, str]]:
    frame = store.runs.synthetic_frame(run)
    return list(zip(frame["text"], frame["label"].astype(str), strict=True))


def work(path: Path) -> int:
    return said(path, "worker", "--workers", "1", "--idle-seconds", "0")


def without_workers() -> None:
    """Start no worker of its own accord; what waits is worked on by the verb `worker`."""
    from engine.jobs.worker import launch

    launch.ensure_worker = lambda folder: False  # type: ignore[assignment]


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ready]:
    from engine.jobs.worker import launch

    real = launch.ensure_worker
    without_workers()
    folder = tmp_path_factory.mktemp("verbs")
    path, beside = folder / "workspace", folder / "beside"
    beside.mkdir()
    made_up(24, first=500).drop(columns="spans").to_csv(beside / "more.csv", index=False)
    (beside / "pool.jsonl").write_text("".join(json.dumps({"text": f"A made-up note {i} on knees."}) + "\n"
                                               for i in range(12)))  # fmt: skip
    store = Store(path, actor="tester")
    corpus = store.corpora.import_table(made_up(), MAPPING, name="Letters", holdout=0.25, labels_public=True)
    store.corpora.import_table(made_up(10, first=900), MAPPING, name="Spare", holdout=0.25)
    store.review.use_gold(corpus.id)
    store.close()
    expected = {}
    for method in METHODS:
        assert said(path, "synthesize", corpus.id, "--method", method, "--count", 8, "--seed", 3, "--no-wait") == 0
    assert work(path) == 0
    store = Store(path, actor="tester")
    for run in store.runs.all():
        assert run.state == "done"
        expected[run.method] = records(store, run.id)
    leaving = next(run.id for run in store.runs.all() if run.method == "surrogate")
    rules = store.releases.policy(POLICY).rules
    found = [finding(r.finding, 0.0, reference=n) for r in rules for n in (r.reference, r.above) if n]
    examine(store, leaving, found, revision=_revision(store))
    store.runs.approve_all_pending(leaving)
    release = store.releases.make(leaving, POLICY, accept_unbounded=True).id
    store.disk.backup(beside / "kept.zip")
    store.close()
    yield Ready(path, corpus.id, leaving, release, beside, expected)
    launch.ensure_worker = real


def _revision(store: Store) -> int:
    with store.session.db.read() as connection:
        return int(connection.exec_driver_sql("SELECT revision FROM corpora ORDER BY created LIMIT 1").scalar_one())


Words = Callable[[Ready, Path], tuple[object, ...]]
VERBS: dict[str, Words] = {
    "import": lambda r, out: ("import", r.beside / "more.csv", "--text", "text", "--id", "id", "--source", "who"),
    "import a sample": lambda r, out: ("import", "--sample", "support_tickets"),
    "labels": lambda r, out: ("labels", r.corpus, "--label", "knee", "--label", "hip"),
    "describe": lambda r, out: ("describe", r.corpus, "--kind", "letter", "--domain", "clinical"),
    "delete": lambda r, out: ("delete", "Spare"),
    "spot-check": lambda r, out: ("spot-check", r.corpus, "--draw", 12),
    "named": lambda r, out: ("named", r.corpus),
    "pool": lambda r, out: ("pool", "import", "notes", r.beside / "pool.jsonl", "--origin", "made up", "--licence",
                            "CC0", "--declare"),
    "ledger": lambda r, out: ("ledger", r.corpus, "--set-limit", 4, 1e-5),
    "synthesize": lambda r, out: ("synthesize", r.corpus, "--method", "surrogate", "--count", 8, "--seed", 3,
                                  "--no-wait"),
    "sweep": lambda r, out: ("sweep", r.corpus, "--method", "public", "--count", 4, "--repeats", 2, "--no-wait"),
    "again": lambda r, out: ("again", r.run, "--no-wait"),
    "recipe": lambda r, out: ("recipe", r.run, "--out", out / "run.yaml"),
    "approve": lambda r, out: ("approve", r.run),
    "assess": lambda r, out: ("assess", r.run, "--policy", POLICY, "--out", out / "file.html"),
    "intruder": lambda r, out: ("intruder", r.run, "--draw", 4, "--minutes", 10, "--means", "search", "--by", "Ann"),
    "people": lambda r, out: ("people", "--add", "eve@example.org", "--name", "Eve", "--role", "custodian"),
    "release": lambda r, out: ("release", r.run, "--policy", POLICY, "--out", out / "bundle", "--accept-unbounded"),
    "release a zip": lambda r, out: ("release", r.run, "--policy", POLICY, "--out", out / "bundle.zip",
                                     "--accept-unbounded"),
    "export": lambda r, out: ("export", r.release, "--out", out / "again.zip"),
    "revoke": lambda r, out: ("revoke", r.release, "--reason", "It was made by mistake."),
    "revocations": lambda r, out: ("revocations", "--out", out / "list.json"),
    "key": lambda r, out: ("key", out / "key.pem"),
    "policies": lambda r, out: ("policies", "--add", r.beside / "policy.yaml"),
    "audit": lambda r, out: ("audit", "--export", out / "log.json"),
    "backup": lambda r, out: ("backup", out / "backup.zip"),
    "doctor": lambda r, out: ("doctor", "--bundle", out / "support.zip"),
    "worker": lambda r, out: ("worker", "--workers", 1, "--idle-seconds", 0),
}  # fmt: skip
QUEUING = ("synthesize", "worker")


def struck(seconds: float, act: Callable[[], object]) -> int:
    """Run `act` in a forked process, kill it after a time, and return the signal that ended it, 0 for none."""
    pid = os.fork()
    if pid == 0:
        status = 3
        try:
            os.setsid()
            status = int(bool(act()))
        finally:
            os._exit(status)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        done, ended = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(ended)
        time.sleep(0.001)
    os.killpg(pid, signal.SIGKILL) if os.getpgid(pid) == pid else os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def warmed(ready: Ready, folder: Path) -> None:
    """Run each verb once in this process, so that a forked one spends its time on what the verb does."""
    for number, (verb, words) in enumerate(VERBS.items()):
        if verb != "worker":
            path, out = folder / f"warm{number}" / "workspace", folder / f"warm{number}" / "out"
            moved(ready.path, path)
            out.mkdir()
            assert said(path, *words(ready, out)) == 0, verb
            shutil.rmtree(folder / f"warm{number}")


def looked_over(path: Path, out: Path) -> None:
    """Open a workspace as the next person would, and see that it is whole."""
    store = Store(path, actor="tester")
    try:
        assert store.session.strangers() == []
        known = {corpus.id for corpus in store.corpora.all()}
        assert {p.name for p in (path / "corpora").iterdir()} == known
        assert [p.name for p in path.rglob("*") if p.name.endswith((".part", ".tmp"))] == []
        for corpus in known:
            assert len(store.corpora.records(corpus, limit=1000)) == min(1000, store.corpora.get(corpus).records)
        made = {release.id for release in store.releases.all()}
        assert {p.name for p in (path / "releases").iterdir()} == made
    finally:
        store.close()
    checked = check_logs(path)
    assert checked.broken == ()
    for one in out.iterdir():
        assert not one.name.startswith("."), f"{one.name} was left over"
        if one.name.startswith("bundle"):
            assert verify(one)["ok"], "records outside that are not whole"


def finished(ready: Ready, path: Path, before: int) -> None:
    """Work off what waits, and see that each run is the one that nobody struck, paid for once."""
    assert work(path) == 0
    store = Store(path, actor="tester")
    try:
        for run in store.runs.all()[: len(store.runs.all()) - before]:
            assert run.state == "done", run
            if run.method == "surrogate" and run.count == 8:
                assert records(store, run.id) == ready.expected["surrogate"]
            lines = store.ledger.of(run.corpus_id).lines
            own = list(lines[lines["run_id"] == run.id]["kind"])
            assert own.count("reserve") <= 1
            assert own.count("settle") <= own.count("reserve")
    finally:
        store.close()


@pytest.mark.parametrize(
    "kills", [pytest.param(20, marks=pytest.mark.slow), pytest.param(1_000, marks=pytest.mark.long)]
)
def test_verbs_killed_at_random_leave_a_whole_workspace(ready, tmp_path, capsys, kills):
    (ready.beside / "policy.yaml").write_text(OWN)
    warmed(ready, tmp_path)
    draw, hits, ran, took = random.Random(kills), Counter(), Counter(), dict[str, float]()
    number = 0
    while hits.total() < kills:
        number += 1
        verb = list(VERBS)[number % len(VERBS)]
        path, out = tmp_path / "w" / "workspace", tmp_path / "out"
        moved(ready.path, path)
        out.mkdir()
        if verb == "worker":
            assert said(path, *VERBS["synthesize"](ready, out)) == 0
        store = Store(path, actor="tester")
        before = len(store.runs.all()) - (verb == "worker")
        store.close()
        begun = time.monotonic()
        patience = draw.uniform(0.0, 1.0) * took[verb] if verb in took else 60.0
        ended = struck(patience, lambda: said(path, *VERBS[verb](ready, out)))  # noqa: B023 - used at once
        ran[verb] += 1
        if ended == -signal.SIGKILL:
            hits[verb] += 1
            if hits.total() % 100 == 0:
                with capsys.disabled():
                    print(f" {hits.total()}", end="", flush=True)
        else:
            assert ended == 0, (verb, ended)
            took[verb] = min(took.get(verb, 60.0), time.monotonic() - begun)
        try:
            looked_over(path, out)
            if verb in QUEUING:
                finished(ready, path, before)
                looked_over(path, out)
        except (AssertionError, UserError) as error:
            raise AssertionError(f"{verb}, strike {number} after {patience:.3f} s: {error}") from error
        for folder in (path.parent, out):
            shutil.rmtree(folder)
    with capsys.disabled():
        print(f"\n{hits.total()} kills in {ran.total()} verbs: {dict(hits)}")
    assert set(hits) >= {"import", "release", "worker", "backup"}
