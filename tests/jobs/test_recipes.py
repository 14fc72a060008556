"""A run written down and made again: the same records, or the reason why not; and no text in the file."""

from __future__ import annotations

import json

import pytest
import yaml

from engine.__main__ import main
from engine.errors import RefusedError, UserError
from tests.jobs.conftest import wait


def made(workspace, corpus, method, **settings):
    run_id = workspace.jobs.synthesize(corpus.id, method, **settings)
    assert wait(workspace, workspace.runs.get(run_id).job_id, seconds=120).state == "done"
    return run_id


@pytest.fixture
def surrogate(workspace, corpus):
    """Return a finished run without noise."""
    return made(workspace, corpus, "surrogate", seed=3)


def test_the_same_records_come_out_on_the_command_line(workspace, surrogate, tmp_path, capsys):
    file = tmp_path / "run.yaml"
    place = ["--workspace", str(workspace.folder.path)]
    assert main(["recipe", surrogate, "--out", str(file), *place]) == 0
    capsys.readouterr()
    assert main(["reproduce", str(file), *place]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["run"] != surrogate
    assert said["same"] == said["of"] == workspace.runs.get(surrogate).kept
    assert (said["in_the_way"], said["not_as_it_was"]) == ([], [])
    first, second = (workspace.runs.synthetic_frame(one) for one in (surrogate, said["run"]))
    assert first["text"].tolist() == second["text"].tolist()


def test_no_word_of_a_record_and_no_plain_digest_stands_in_the_file(workspace, corpus, surrogate):
    import hashlib

    text = workspace.recipes.write(surrogate)
    records = workspace.corpora.frame(corpus.id, "train")
    words = {word for record in records["text"] for word in record.split() if len(word) > 4}
    words |= set(records["source_id"].astype(str)) | {"Letters"}
    listed = {token.strip("'\"") for token in text.replace(":", " ").split()}
    known = {str(word) for word in yaml.safe_load(text)["versions"]}
    assert not (words - known) & listed
    for made_text in workspace.runs.synthetic_frame(surrogate)["text"]:
        assert hashlib.sha256(made_text.encode()).hexdigest()[:12] not in text


def test_other_records_are_counted(workspace, surrogate):
    recipe = workspace.recipes.read(workspace.recipes.write(surrogate))
    told = recipe.model_copy(update={"records": ["0" * 24, *recipe.records[1:]]})
    found = workspace.recipes.compare(told, surrogate)
    assert (found.same, found.of, found.whole) == (len(recipe.records) - 1, len(recipe.records), False)
    shorter = workspace.recipes.compare(recipe.model_copy(update={"records": recipe.records[:-1]}), surrogate)
    assert (shorter.same == shorter.of, shorter.whole) == (True, False)


def test_what_differs_is_told_and_inputs_stand_in_the_way(workspace, corpus, surrogate):
    recipes = workspace.recipes
    recipe = recipes.read(recipes.write(surrogate))
    older = recipe.model_copy(update={"versions": {**recipe.versions, "pandas": "0.1"}})
    assert [line.split()[0] for line in recipes.differences(older).told] == ["pandas"]
    record = workspace.corpora.frame(corpus.id, "train")["record_id"].iloc[0]
    span = workspace.review.spans(corpus.id, record)[0]
    workspace.review.decide(corpus.id, [span.span_id], "reject" if span.state == "accept" else "accept")
    workspace.review.decide(corpus.id, [span.span_id], "reject")
    with pytest.raises(RefusedError, match="accepted spans"):
        recipes.start(recipe)
    with pytest.raises(UserError, match="spans changed"):
        recipes.write(surrogate)
    elsewhere = recipe.model_copy(update={"inputs": recipe.inputs.model_copy(update={"records": "0" * 24})})
    with pytest.raises(RefusedError, match="training records"):
        recipes.start(elsewhere)


@pytest.mark.parametrize(
    "change",
    [
        lambda one: {"count": one.count - 1, "records": one.records[:-1]},
        lambda one: {"records": ["0" * 24, *one.records[1:]]},
        lambda one: {"seed": one.seed + 1},
        lambda one: {"why_not": "x", "repeatable": True},
        lambda one: {"seal": "0" * 24},
    ],
)
def test_a_file_that_was_cut_or_edited_makes_nothing(workspace, surrogate, change):
    recipe = workspace.recipes.read(workspace.recipes.write(surrogate))
    assert workspace.recipes.differences(recipe).in_the_way == ()
    runs = workspace.runs.all()
    edited = recipe.model_copy(update=change(recipe))
    (said,) = workspace.recipes.differences(edited).in_the_way
    assert "was changed" in said
    with pytest.raises(RefusedError, match="was changed"):
        workspace.recipes.start(edited)
    assert workspace.runs.all() == runs


def test_no_check_calls_a_run_with_noise_repeatable_because_its_file_does(workspace, corpus, tmp_path, capsys):
    run_id = made(workspace, corpus, "counts", parameters={"epsilon": 1.0, "delta": 1e-3})
    body = yaml.safe_load(workspace.recipes.write(run_id)) | {"repeatable": True, "why_not": ""}
    file = tmp_path / "run.yaml"
    file.write_text(yaml.safe_dump(body, sort_keys=False), "utf-8")
    assert main(["reproduce", str(file), "--check", "--workspace", str(workspace.folder.path)]) == 0
    assert json.loads(capsys.readouterr().out)["repeatable"] is False


def test_noise_is_not_made_again(workspace, corpus):
    run_id = made(workspace, corpus, "counts", parameters={"epsilon": 1.0, "delta": 1e-3})
    recipe = workspace.recipes.read(workspace.recipes.write(run_id))
    assert not recipe.repeatable
    runs = workspace.runs.all()
    with pytest.raises(RefusedError, match="no seed"):
        workspace.recipes.start(recipe)
    with pytest.raises(RefusedError, match="no seed"):
        workspace.recipes.start(recipe.model_copy(update={"repeatable": True, "why_not": ""}))
    assert workspace.runs.all() == runs


def test_a_method_whose_choices_are_noisy_is_not_made_again_though_it_claims_nothing():
    from engine.dp.guarantee import Guarantee
    from engine.jobs.recipes import draws_noise

    none = Guarantee("none", "No formal guarantee.", "the run's complete output")
    assert draws_noise("rpsg", none)
    assert not draws_noise("surrogate", none)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text + "more: 1\n", "more: there is no such field"),
        (lambda text: text + "count: 3\n", "stands here twice"),
        (lambda text: text.replace("count: ", "count: -"), "count"),
        (lambda text: text.replace("understudy_run: 1", "understudy_run: 2"), "understudy_run"),
        (lambda text: "- a\n", "file"),
    ],
)
def test_a_file_that_says_something_else_is_refused(workspace, surrogate, change, said):
    with pytest.raises(UserError, match=said):
        workspace.recipes.read(change(workspace.recipes.write(surrogate)))
