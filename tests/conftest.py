"""Fixtures every test may use: where real test text lies, and an empty workspace folder."""

from __future__ import annotations

import gc
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import compiled_sql, forked, postgres, same_keys, slow_time
from tests.slow_time import pytest_terminal_summary  # noqa: F401  a hook of pytest's

ROOT = Path(__file__).resolve().parent.parent
MAIN = sys.modules["__main__"]  # a page run by Streamlit's own test takes its place, and a spawned process would run it
gc.set_threshold(20_000, 20, 20)  # half a million objects live as long as the session; searching them was a tenth of it
# Where nothing says otherwise Python keeps its bytecode; hundreds of processes would compile the program anew each.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in the worker; tests beside each other share the cores

MEMORY = Path("/dev/shm")
ROOM = 4 << 30


def in_memory(folder: Path = MEMORY) -> bool:
    """Say whether the tests' folders may lie in memory: a commit waits some milliseconds for a disk, and none here.

    Nothing that the tests do hangs on the kind of disk; none pulls the plug. There must be room for all of them.
    """
    if not (folder.is_dir() and os.access(folder, os.W_OK)):
        return False
    import psutil

    return min(shutil.disk_usage(folder).free, psutil.virtual_memory().available) >= ROOM


if "PYTEST_DEBUG_TEMPROOT" not in os.environ and in_memory():
    os.environ["PYTEST_DEBUG_TEMPROOT"] = str(MEMORY)

compiled_sql.share()

# `pytest -m quick`: what loads no model and starts no browser, three minutes on one core. A file that takes long
# or needs more than these libraries is named below it; `tests/static/test_quick.py` holds the lane to its word.
QUICK = ("at_rest", "corpus", "dp", "examine", "figures", "methods", "pii", "release", "static", "store", "workspace")
NOT_QUICK = {
    "corpus/people/test_short_overlap.py", "corpus/test_build.py", "corpus/test_documents.py",
    "corpus/test_fuzz_readers.py", "corpus/text/test_readability.py", "dp/accounting/test_accountant.py",
    "dp/accounting/test_pld.py", "dp/accounting/test_rdp.py", "dp/noise/test_choice.py",
    "dp/noise/test_label_list.py", "dp/noise/test_mechanisms.py", "dp/noise/test_noise_drawn.py",
    "dp/noise/test_private.py", "dp/noise/test_train.py", "examine/members/test_groups.py",
    "examine/members/test_models.py", "examine/members/test_text_membership.py", "examine/persons/test_people.py",
    "examine/repeats/test_closeness_null.py", "examine/stats/test_highest.py", "examine/stats/test_intervals.py",
    "examine/stats/test_roc.py", "examine/stats/test_split_excess.py", "examine/test_compare.py",
    "examine/test_each.py", "examine/test_examine_run.py", "examine/test_threads.py", "examine/test_uses.py",
    "examine/usefulness/test_distribution.py", "examine/usefulness/test_downstream.py",
    "examine/usefulness/test_ends.py", "examine/usefulness/test_ends_of_learners.py",
    "examine/usefulness/test_extraction.py",
    "examine/usefulness/test_iterations.py", "examine/usefulness/test_language_model.py",
    "examine/usefulness/test_meaning.py", "examine/usefulness/test_metrics.py",
    "examine/usefulness/test_reference_loss.py", "examine/usefulness/test_tasks.py",
    "examine/usefulness/test_text_map.py", "examine/values/test_strict.py", "figures/test_proof_attack.py",
    "methods/evolution/test_common.py", "methods/evolution/test_dense_votes.py", "methods/evolution/test_dpga.py",
    "methods/examples/test_control_icl.py", "methods/filter/test_filter.py", "methods/filter/test_parameters.py",
    "methods/filter/test_values.py", "methods/prediction/test_prediction.py", "methods/prefix/test_control_prefix.py",
    "methods/rpsg/test_public.py", "methods/rpsg/test_rpsg.py", "methods/steer/test_steer.py",
    "methods/test_facts.py", "methods/test_label_list.py",
    "methods/test_large_delta.py", "methods/test_public_inputs.py", "methods/test_signal.py",
    "methods/test_verdict.py", "methods/topics/test_topics.py", "methods/tuned/test_finetune.py",
    "pii/decide/test_missed.py", "pii/detect/test_clinical.py", "pii/detect/test_detector.py",
    "pii/detect/test_presets.py", "pii/languages/test_detect.py", "pii/languages/test_hostile_text.py",
    "pii/languages/test_inflection.py", "pii/languages/test_national_ids.py", "pii/languages/test_packs.py",
    "pii/languages/test_telling.py", "pii/test_benchmark.py", "pii/test_surrogates.py", "release/test_bundle.py",
    "release/test_checker.py", "release/test_wizard.py", "static/test_contributing.py", "static/test_lint.py",
    "static/test_pages.py", "static/test_quick.py", "static/test_used.py", "store/budget/test_equal_recognition.py",
    "store/budget/test_ledger.py", "store/budget/test_limit_of_several.py", "store/budget/test_recognition.py",
    "store/disk/test_backup.py", "store/disk/test_blobs.py", "store/disk/test_encryption.py",
    "store/disk/test_file_versions.py", "store/disk/test_opening.py", "store/disk/test_parts.py",
    "release/test_intruder.py", "store/people/test_calls.py", "store/people/test_reasons.py",
    "store/review/test_bulk.py", "store/review/test_spot_checks.py",
    "store/review/test_station.py", "store/review/test_steps.py", "store/test_audit.py", "store/test_audit_file.py",
    "store/test_at_once.py", "store/test_moving.py",
    "store/test_concurrency.py", "store/test_copied_folder.py", "store/test_corpora.py",
    "store/test_damaged_tables.py", "store/test_intruder.py", "store/test_labels.py", "store/test_ledger_chain.py",
    "store/test_own_policies.py", "store/test_releases.py", "store/test_rollback.py", "store/test_runs.py",
    "store/test_waivers.py", "workspace/test_first_edition.py", "workspace/test_workspace.py",
}  # fmt: skip


# `pytest -m long`: slow tests that together take longer than a change may wait for: simulations of whole batteries,
# studies with real models, power of audits. To be run before an edition, and after a change to what they measure.
LONG = {
    "audit/test_private_prediction.py", "crash/test_surrogate_kills.py", "examine/members/test_models.py",
    "examine/persons/test_people.py", "examine/usefulness/test_tasks.py", "models/tune/test_encoder_classifier.py",
    "studies/test_bench_real.py", "studies/test_canary_audit.py", "studies/test_canary_unblind.py",
    "studies/test_control_model.py", "studies/test_nll_filter.py", "whole_battery/test_null_run.py",
    "whole_battery/test_planted_run.py",
}  # fmt: skip


def in_lane(path: Path) -> bool:
    """Say whether a test file belongs to the quick lane."""
    place = path.relative_to(ROOT / "tests")
    return place.parts[0] in QUICK and place.as_posix() not in NOT_QUICK


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave other files alone when the quick lane is all that is asked for: reading them loads what they need."""
    if config.option.markexpr == "quick" and collection_path.name.startswith("test_") and collection_path.is_file():
        return True if not in_lane(collection_path) else None
    return None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what belongs to the quick lane; slow tests of long files are long instead."""
    long = [
        item for item in items
        if item.path.relative_to(ROOT / "tests").as_posix() in LONG and item.get_closest_marker("slow") is not None
    ]  # fmt: skip
    for item in long:
        for node in item.listchain():
            node.own_markers = [mark for mark in node.own_markers if mark.name != "slow"]
        item.add_marker(pytest.mark.long)
    for item in items:
        if item.get_closest_marker("long") is not None:  # on PostgreSQL it would be slow too
            item.own_markers = [mark for mark in item.own_markers if mark.name != "slow"]
        if in_lane(item.path) and not any(item.get_closest_marker(mark) for mark in ("slow", "long")):
            item.add_marker(pytest.mark.quick)
    items[:] = slow_time.in_order(items, float(config.getini("timeout")))


def pytest_collection_finish() -> None:
    """Leave what collection made out of every later search for garbage."""
    gc.collect()
    gc.freeze()


class Workers:
    """How tests' workers start: see `tests.forked`; one that a test started in a folder of its own ends with it."""

    def __init__(self) -> None:
        self.server: forked.Server | None = None
        self.real: Any = None
        self.path = ROOT

    def start(self, folder: Any) -> Any:
        """Start the worker of a workspace in the way that suits the test at work."""
        if forked.starts_real(self.path):
            return self.real(folder)
        if self.server is None:
            from engine.jobs.worker.launch import worker_environment

            self.server = forked.Server(worker_environment())
        return forked.start(self.server, folder, self.real)

    def end(self, folder: Path) -> None:
        """Ask the workers of the workspaces in a folder to leave."""
        for name, (_, process) in self.launch()._started.items():
            if folder in Path(name).parents and process.poll() is None:
                process.terminate()

    def launch(self) -> Any:
        """Return the module that starts workers, and take its place there."""
        from engine.jobs.worker import launch

        if self.real is None:
            self.real, launch._start = launch._start, self.start
        return launch


WORKERS = Workers()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Note whose workers are started from here on; a process that the test spawns begins with this program."""
    slow_time.begin()
    sys.modules["__main__"] = MAIN
    same_keys.KEYS.begin(item.path)
    WORKERS.path = item.path
    if os.name == "posix" and "engine.jobs.worker.launch" in sys.modules:
        WORKERS.launch()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """End workers that no later test can ask for anything."""
    folder = getattr(item, "funcargs", {}).get("tmp_path")
    if folder is not None and WORKERS.real is not None:
        WORKERS.end(folder)


def pytest_sessionfinish() -> None:
    """End the process that forks, and with it the workers that are left, and a PostgreSQL that was started."""
    postgres.stop()
    if WORKERS.server is not None:
        WORKERS.server.close()


@pytest.fixture(scope="session")
def test_data() -> Path:
    """Return the folder of real test text, or skip where it is not at hand."""
    folder = Path(os.environ.get("UNDERSTUDY_TEST_DATA") or ROOT / ".." / "shared" / "data").resolve()
    if not folder.is_dir():
        pytest.skip("no real test data here: set UNDERSTUDY_TEST_DATA to its folder")
    return folder


@pytest.fixture
def workspace_path(tmp_path: Path) -> Path:
    """Return the path of a workspace folder that does not exist yet."""
    return tmp_path / "workspace"


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Return the one Chromium of the session: its driver cannot be started twice in a process."""
    from tests.browser.conftest import launched

    with launched() as instance:
        yield instance
