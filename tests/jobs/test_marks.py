"""A model that saw private text carries that mark, and no claim made with it leaves that out."""

import json
import shutil

import pytest

from engine.errors import UserError
from engine.models.builtin.shipped import lm_folder
from engine.models.marks import KEY, read_marks, weight_digests
from engine.store import restore
from tests.jobs.conftest import wait
from tests.store.conftest import MAPPING, made_up

DELTA = 1e-5
TUNING = {"rank": 2, "tokens": 12, "words": 8}
PLAIN = TUNING | {"epochs": 1, "records_a_step": 20}
NOISY = TUNING | {"delta": DELTA, "epsilon": 2.0, "units_a_step": 40, "steps": 2, "lengths": "public"}


@pytest.fixture
def small(workspace):
    """Return a corpus of its own under a limit of ε = 10."""
    made = workspace.corpora.import_table(made_up(), MAPPING, name="Letters", holdout=0.25)
    workspace.ledger.set_limit(made.id, 10.0, DELTA)
    return made


@pytest.fixture
def others(workspace):
    """Return a corpus of other people."""
    table = made_up(30, 5000).assign(
        text=[f"Parcel {i} of row {i * 31 % 97} left store {i * 17 % 89} on shelf {i} at dawn." for i in range(30)],
        who=[f"q{i}" for i in range(30)],
    )
    return workspace.corpora.import_table(
        table.drop(columns="spans"), type(MAPPING)(text="text", source_id="who"), name="Parcels"
    )


def tuned(workspace, corpus, method, parameters):
    run_id = workspace.jobs.synthesize(corpus.id, method, count=2, parameters=parameters)
    job = wait(workspace, workspace.runs.get(run_id).job_id, seconds=240)
    assert job.state == "done", job.error
    return run_id, workspace.folder.run(run_id) / "tuned"


def refusal(workspace, corpus, method, model="builtin", **parameters):
    """Return why a run is refused; the plan says the same."""
    with pytest.raises(UserError) as caught:
        workspace.jobs.synthesize(corpus.id, method, count=2, model=model, parameters=parameters)
    assert str(caught.value) == " ".join(workspace.plan.draft(corpus.id, method, count=2, model=model,
                                                        parameters=parameters).blockers)  # fmt: skip
    return str(caught.value)


def stripped(folder, target):
    """Copy a model folder without its mark, its weights under another name and in two files of 32-bit numbers."""
    from safetensors.torch import load_file, save_file

    target.mkdir()
    for name in ("config.json", "tokenizer.json"):
        shutil.copyfile(folder / name, target / name)
    body = json.loads((target / "config.json").read_text())
    del body[KEY]
    (target / "config.json").write_text(json.dumps(body))
    tensors = {name: value.float() for name, value in load_file(folder / "model.safetensors").items()}
    names = sorted(tensors)
    save_file({n: tensors[n] for n in names[::2]}, target / "model-00001-of-00002.safetensors")
    save_file({n: tensors[n] for n in names[1::2]}, target / "model-00002-of-00002.safetensors")
    return target


def test_weights_without_a_guarantee_end_every_claim_made_with_them(workspace, small, others, tmp_path):
    """Fine-tune, import the tuned folder, and write "from public prompts" with it."""
    run_id, folder = tuned(workspace, small, "finetune", PLAIN)
    assert [(mark.run, mark.kind) for mark in read_marks(folder)] == [(run_id, "none")]
    info = workspace.models.import_folder(folder, "friendly")
    assert run_id in info.saw
    again = restore(workspace.disk.backup(tmp_path / "b.zip"), tmp_path / "again")  # weights lie deeper than tables
    for file in folder.iterdir():
        assert (again / "runs" / run_id / "tuned" / file.name).read_bytes() == file.read_bytes()
    for corpus in (small, others):
        assert "no claim would hold" in refusal(workspace, corpus, "public", info.id)
    assert "inside a workspace" in refusal(workspace, small, "dp-finetune", tuned_model=str(folder))
    (tmp_path / "link").symlink_to(folder)
    assert "inside a workspace" in refusal(workspace, small, "dp-finetune", tuned_model=str(tmp_path / "link"))

    shutil.copytree(folder, tmp_path / "copy")
    assert "no claim would hold" in refusal(workspace, small, "rpsg-public", surrogate_model=str(tmp_path / "copy"))
    bare = stripped(folder, tmp_path / "bare")
    assert "no claim would hold" in refusal(workspace, small, "dp-finetune", tuned_model=str(bare))
    whole = tmp_path / "whole"  # mark taken out, weights as they are
    shutil.copytree(folder, whole)
    body = json.loads((whole / "config.json").read_text())
    del body[KEY]
    (whole / "config.json").write_text(json.dumps(body))
    again = workspace.models.import_folder(whole, "unmarked")
    assert run_id in again.saw
    assert [mark.run for mark in read_marks(workspace.path / "models" / "unmarked")] == [run_id]

    workspace.runs.delete(run_id)
    assert "no claim would hold" in refusal(workspace, small, "public", again.id)
    # What makes no claim may use it; a release of that from another corpus opens these people's ledger too.
    plan = workspace.plan.draft(others.id, "finetune", count=2, model=info.id)
    assert not [b for b in plan.blockers if "claim" in b]
    with workspace.session.db.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM fitted_weights").scalar() > 10


def test_weights_of_a_run_with_a_guarantee_are_counted_for_its_people(workspace, small, others):
    run_id, folder = tuned(workspace, small, "dp-finetune", NOISY)
    mark = read_marks(folder)[0]
    assert (mark.run, mark.kind, mark.epsilon, mark.delta) == (run_id, "dp", pytest.approx(2.0), DELTA)
    model = workspace.models.import_folder(folder, "noisy").id
    share = workspace.ledger.of(small.id).share

    claim = workspace.plan.draft(small.id, "public", count=2, model=model).guarantee
    assert (claim.kind, claim.epsilon, claim.delta) == ("dp", pytest.approx(2.0), DELTA)
    assert run_id in claim.sentence
    assert "No private text is read" not in claim.sentence
    assert not [a for a in claim.assumptions if "not trained on this corpus" in a]
    made = workspace.jobs.synthesize(small.id, "public", count=2, model=model, parameters={"words": 8})
    assert workspace.runs.get(made).guarantee.epsilon == pytest.approx(2.0)
    assert workspace.ledger.of(small.id).share == share  # paid for already: its outputs are used again

    claim = workspace.plan.draft(others.id, "public", count=2, model=model).guarantee
    assert claim.epsilon == 0.0
    assert any(run_id in assumption for assumption in claim.assumptions)
    both = workspace.plan.wait_guarantee("aug-pe", corpus_id=small.id, parameters={"epsilon": 1.0, "delta": DELTA})
    planned = workspace.plan.draft(
        small.id, "aug-pe", count=2, model=model, parameters={"epsilon": 1.0, "delta": DELTA}
    )
    assert planned.guarantee.epsilon == pytest.approx(3.0)
    assert planned.guarantee.delta == pytest.approx(2 * DELTA)
    assert planned.guarantee.events == both.events  # what is reserved is this run's own
    asked = {"adjacency": "replace-one", "epsilon": 1.0, "delta": DELTA}
    assert "another unit, neighbour" in refusal(workspace, small, "aug-pe", model, **asked)


def test_the_built_in_model_is_no_run_s(workspace, small):
    with workspace.session.db.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM fitted_weights").scalar() == 0
    assert workspace.models.import_folder(lm_folder(), "own").saw == ""
    assert workspace.plan.draft(small.id, "public", count=2, model="folder:own").guarantee.epsilon == 0.0
    assert len(weight_digests(lm_folder())) > 10


def test_weights_of_a_run_made_before_marks_were_kept_are_found(workspace, small, tmp_path):
    """A tuned folder of the first edition has no mark, and a copy of it may have left already."""
    import torch
    from safetensors.torch import load_file, save_file

    from engine.jobs.models.marks import marks_in
    from tests.store.making import finished_run

    run_id = finished_run(workspace, small, ["one"])
    folder = workspace.folder.run(run_id) / "tuned"
    folder.mkdir(parents=True)
    tensors = load_file(lm_folder() / "model.safetensors")
    name = max(tensors, key=lambda one: tensors[one].numel())
    tensors[name] = tensors[name] + torch.ones_like(tensors[name])
    save_file(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text((lm_folder() / "config.json").read_text())
    shutil.copytree(folder, tmp_path / "copy")
    assert [(mark.run, mark.bounded) for mark in marks_in(workspace.session, tmp_path / "copy")] == [(run_id, False)]
    assert marks_in(workspace.session, lm_folder()) == []  # what the run left as it was is nobody's
