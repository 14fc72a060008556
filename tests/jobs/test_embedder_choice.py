"""By what an examination measures meaning: chosen by the text's language or set, kept with the job, and said."""

from __future__ import annotations

import json
import shutil

import pytest

from engine.corpus.samples import load_sample
from engine.errors import UserError
from engine.examine.findings.embedders import ENGLISH, NAMES, embedder_of, embedder_sentence
from engine.jobs.models import embedder_choice
from engine.jobs.models.cache import ModelCache
from engine.jobs.tasks import examine
from engine.jobs.worker.task import Stopped, Task
from engine.models.builtin.minilm import packaged_folder
from engine.store import queue
from engine.store.database.schema import jobs
from engine.store.rows import job_of
from engine.store.store import Store
from engine.workspace import open_workspace
from tests.jobs.conftest import without_worker
from tests.jobs.test_stopped_examination import MAPPING, job_for, kept_files, the_run
from tests.store.making import finished_run

MODELS = ModelCache()
QUICK = {"privacy": True, "utility": True, "model_attacks": False}


def filled(store, sample):
    """Give a workspace a run that leaks some of its corpus: by records, so that the part in use is never a handful."""
    corpus = store.corpora.import_table(
        load_sample(sample).head(80), MAPPING, name="Letters", unit="record", holdout=0.3
    )
    store.review.use_gold(corpus.id)
    train = store.corpora.frame(corpus.id).query("split == 'train'")["text"].tolist()
    finished_run(store, corpus, [f"{text[:200]} {i}." for i, text in enumerate(train[:24])])
    return corpus


@pytest.fixture
def store(tmp_path):
    opened = Store(tmp_path / "workspace", actor="tester")
    yield opened
    opened.close()


def done(store, row, leaving=lambda: False):
    """Do an examination as a worker does; return whether it came to its end."""
    try:
        examine.run(Task(store, row, MODELS, leaving))
    except Stopped:
        return False
    with store.session.db.write() as connection:
        queue.finish(connection, row.id, "done")
    return True


def arguments(store, job):
    with store.session.db.read() as connection:
        return job_of(connection.execute(jobs.select().where(jobs.c.id == job)).one()).arguments


def test_estonian_text_is_measured_by_ngrams_that_every_finding_names(store):
    corpus = filled(store, "clinic_letters_et")
    assert store.corpora.statistics(corpus.id).english_share < embedder_choice.ENOUGH_ENGLISH
    row = job_for(store, QUICK)
    assert done(store, row)
    assert arguments(store, row.id)["embedder"] == "ngrams"
    findings = store.examinations.findings(the_run(store))
    resting = [one for one in findings if one.name in NAMES and one.value == one.value]
    assert {"nearest_similarity", "nearest_similarity_excess", "kid", "balance"} <= {one.name for one in resting}
    assert {embedder_of(one) for one in resting} == {"character n-grams"}
    assert not [one for one in findings if one.name not in NAMES and "embedder" in one.settings]
    assert embedder_sentence(findings) == (
        "Meaning was measured by character n-grams, since most of the text is not English: they follow words more than "
        "meaning. A multilingual sentence model (Models page) follows meaning."
    )
    plane = store.examinations.corpus_map(corpus.id)
    assert set(plane["embedder"]) == {"character n-grams"}
    assert done(store, job_for(store, QUICK | {"privacy": False, "embedder": "english"}))
    assert set(store.examinations.corpus_map(corpus.id)["embedder"]) == {ENGLISH}, "a plane of another embedder stayed"


def test_english_text_is_measured_as_it_was(store):
    filled(store, "clinic_letters")
    found = []
    for settings in (QUICK | {"embedder": "english"}, QUICK):
        row = job_for(store, settings)
        assert done(store, row)
        assert arguments(store, row.id)["embedder"] == "english"
        found.append([repr(one) for one in store.examinations.findings(the_run(store))])
    assert found[0] == found[1]
    findings = store.examinations.findings(the_run(store))
    assert {embedder_of(one) for one in findings} == {ENGLISH, ""}
    assert embedder_sentence(findings) == ""


def test_what_was_chosen_stays_with_the_job_whatever_is_set_meanwhile(tmp_path, monkeypatch):
    workspace = open_workspace(tmp_path / "workspace", "tester")
    without_worker(workspace, monkeypatch)
    store = Store(session=workspace.session)
    filled(store, "clinic_letters_et")
    row = job_for(store, QUICK)
    assert not done(store, row, leaving=lambda: len(kept_files(store)) >= 3)
    workspace.models.set_embedder("english")
    with store.session.db.write() as connection:  # as after a crash: the same job, taken anew
        connection.execute(jobs.update().where(jobs.c.id == row.id).values(state="queued", worker=None))
        row = queue.claim(connection, "heavy")
    assert not done(store, row, leaving=lambda: len(kept_files(store)) >= 5)
    with store.session.db.write() as connection:
        queue.finish(connection, row.id, "cancelled")
    before = {path.name: path.stat().st_mtime_ns for path in kept_files(store)}
    job = workspace.jobs.continue_examination(the_run(store))
    assert arguments(store, job)["embedder"] == "ngrams"
    with store.session.db.write() as connection:
        row = queue.claim(connection, "heavy")
    begun = []
    task = Task(store, row, MODELS, lambda: False)
    task.begin = begun.append
    examine.run(task)
    assert not {name.removesuffix(".kept") for name in before} & set(begun), "a kept part was measured again"
    assert "since most of the text is not English" in embedder_sentence(store.examinations.findings(the_run(store)))
    workspace.close()


def test_a_setting_is_checked_kept_and_logged(tmp_path, monkeypatch):
    workspace = open_workspace(tmp_path / "workspace", "tester")
    without_worker(workspace, monkeypatch)
    assert workspace.models.embedder() == "auto"
    folder = tmp_path / "sentence-model"
    folder.mkdir()
    for name in ("config.json", "modules.json"):
        with pytest.raises(UserError, match="lacks"):
            workspace.models.set_embedder(str(folder))
        shutil.copy(packaged_folder() / name, folder)
    (folder / "model.safetensors").write_bytes(b"nothing of it is loaded")
    assert workspace.models.set_embedder(f" {folder} ") == str(folder)
    (folder / "modules.json").write_text(json.dumps([{"type": "own.module.Code"}]))
    with pytest.raises(UserError, match=r"own\.module\.Code"):
        workspace.models.set_embedder(str(folder))
    with pytest.raises(UserError, match="must be auto"):
        workspace.models.set_embedder("nowhere")
    assert workspace.models.embedder() == str(folder)
    line = workspace.audit.lines().iloc[0]
    assert line["action"] == "setting changed"
    assert "folder" in str(line["detail"])
    assert str(folder) not in str(line["detail"])
    workspace.close()


def test_a_folder_measures_too_and_is_told_by_its_weights(tmp_path):
    folder = tmp_path / "sentence-model"
    shutil.copytree(packaged_folder(), folder)
    made = MODELS.embedder(str(folder))
    assert made.id == "sentence-model (53aa5117)"
    assert made.embed(["One text."]).shape == (1, 384)
    assert MODELS.embedder(str(folder)) is made
    assert MODELS.embedder("ngrams").id == "character n-grams"
    (folder / "config.json").unlink()
    with pytest.raises(UserError, match="lacks"):
        MODELS.embedder(str(folder))
