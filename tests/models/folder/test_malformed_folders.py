"""Model folders of strangers: refused in a sentence or read, at once; killed imports leave nothing."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

import pytest

import engine
from engine.errors import UserError
from engine.models.catalogue import Catalogue
from engine.models.folder import imports as model_import
from engine.models.folder.imports import import_folder, remove_folder, sweep
from engine.models.folder.inspection import inspect_folder
from tests.models.malformed_folders import DAMAGES, header, make

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in folders here")
SLOW_SECONDS = 20.0
STEPS = {"open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "shutil.rmtree"}  # audited by Python itself


def test_a_hundred_and_more_ways_are_tried():
    assert len(DAMAGES) >= 110


@pytest.mark.parametrize("name", DAMAGES)
def test_a_malformed_folder_is_refused_in_a_sentence_or_read(name, tmp_path):
    folder, models = make(tmp_path / "source"), tmp_path / "models"
    DAMAGES[name](folder)
    started = time.monotonic()
    said = []
    for work in (lambda: inspect_folder(folder), lambda: import_folder(folder, models, "odd")):
        try:
            work()
            said.append("")
        except UserError as error:
            said.append(str(error))
    assert time.monotonic() - started < SLOW_SECONDS
    assert said[0] == said[1]
    said[0].encode("utf-8")
    for info in Catalogue(models, {}).all():  # and what was read can be listed
        assert info.problem == ""
    if said[0]:
        assert not models.exists() or list(models.iterdir()) == []


def test_a_sound_folder_passes_and_code_at_any_depth_does_not(tmp_path):
    facts = inspect_folder(make(tmp_path / "sound"))
    assert (facts.parameters, facts.context, facts.kind) == (4, 64, "causal")
    for name in ("code", "code below", "code in the tokenizer"):
        folder = make(tmp_path / name)
        DAMAGES[name](folder)
        with pytest.raises(UserError, match="asks for code"):
            inspect_folder(folder)


def large(folder: Path, megabytes: int) -> Path:
    """Write a folder whose weights take a moment to copy and to digest."""
    make(folder)
    size = megabytes << 20
    header({"w": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}, body=bytes(size))(folder)
    return folder


def left(models: Path) -> list[str]:
    return sorted(path.name for path in models.iterdir())


def audited(source: Path, models: Path, stop: int, steps: Synchronized[int]) -> None:
    """Import in a process of its own that kills itself at the audited step `stop` (opening, renaming, removing …)."""

    def count(event: str, _arguments: object) -> None:
        if event in STEPS:
            steps.value += 1
            if steps.value == stop:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    import_folder(source, models, "big")


def killed_imports(tmp_path, kills: int, megabytes: int) -> tuple[int, int, int]:
    """Kill imports at steps spread over their way, and as many in the middle of a copy.

    Returns how many were killed, how many left parts, and how many had come whole.
    """
    source = large(tmp_path / "source", megabytes)
    workspace = engine.open_workspace(tmp_path / "workspace")
    models = workspace.path / "models"
    workspace.close()
    fork = multiprocessing.get_context("fork")
    steps = fork.Value("i", 0)
    whole_way = fork.Process(target=audited, args=(source, models, 0, steps))
    started = time.monotonic()
    whole_way.start()
    whole_way.join()
    length = time.monotonic() - started
    remove_folder(models, "big")
    total, killed, parts, whole = steps.value, 0, 0, 0
    for kill in range(2 * kills):
        share = (kill // 2 + 0.5) / kills
        steps.value = 0
        by_the_clock = kill % 2 == 1  # what such a kill meets depends on the machine
        stop = 0 if by_the_clock else 1 + int(share * total)
        child = fork.Process(target=audited, args=(source, models, stop, steps))
        child.start()
        if by_the_clock and child.pid is not None:
            time.sleep(length * share)
            os.kill(child.pid, signal.SIGKILL)
        child.join()
        killed += child.exitcode == -signal.SIGKILL
        parts += any(name.startswith(".") for name in left(models))
        engine.open_workspace(tmp_path / "workspace").close()
        assert left(models) in ([], ["big", "big.json"])
        if left(models):
            whole += 1
            assert Catalogue(models, {}).info("folder:big").problem == ""
            remove_folder(models, "big")
        import_folder(source, models, "big")  # and nothing stands in the way of the next one
        remove_folder(models, "big")
        assert left(models) == []
    return killed, parts, whole


def test_killed_imports_leave_nothing(tmp_path):
    killed, parts, _ = killed_imports(tmp_path, kills=4, megabytes=16)
    assert killed >= 4
    assert parts >= 2, "a kill in the middle leaves a part, which the next opening removes"


@pytest.mark.slow
def test_many_killed_imports_leave_nothing(tmp_path):
    killed, parts, whole = killed_imports(tmp_path, kills=30, megabytes=64)
    print("killed", killed, "parts", parts, "whole", whole)
    assert killed >= 30
    assert parts >= 10


@pytest.mark.parametrize("calls", [1, 2])
def test_a_death_between_the_last_two_steps_leaves_nothing(tmp_path, monkeypatch, calls):
    source, models = make(tmp_path / "source"), tmp_path / "models"
    real, seen = os.replace, []

    def dying(*paths):
        seen.append(paths)
        if len(seen) == calls:
            os._exit(9)
        real(*paths)

    fork = multiprocessing.get_context("fork")
    monkeypatch.setattr(model_import.os, "replace", dying)
    child = fork.Process(target=import_folder, args=(source, models, "odd"))
    child.start()
    child.join()
    monkeypatch.setattr(model_import.os, "replace", real)
    assert child.exitcode == 9
    assert len(left(models)) == 2
    assert sweep(models) == 1
    assert left(models) == []
    import_folder(source, models, "odd")
    assert sweep(models) == 0
    assert left(models) == ["odd", "odd.json"]


def test_an_import_under_way_is_not_swept(tmp_path):
    models = tmp_path / "models"
    models.mkdir()
    part = models / ".big.0123456789ab.part"
    part.mkdir()
    with model_import._at_work(models):
        assert sweep(models) == 0
        assert part.is_dir()
    assert sweep(models) == 1


def test_what_an_earlier_version_left_of_a_model_can_be_removed(tmp_path):
    models = tmp_path / "models"
    make(models / "odd")
    with pytest.raises(UserError, match="here already"):
        import_folder(make(tmp_path / "source"), models, "odd")
    remove_folder(models, "odd")
    assert left(models) == []
