"""The settings page: person, self-check, storage, backup, typed deletion, support file, policies."""

from __future__ import annotations

import io
import re
import zipfile
from types import SimpleNamespace

import engine
from pages._ui.settings import parts as settings_parts
from pages._ui.settings import policies as settings_policies


def words(app, *kinds: str) -> str:
    return "\n".join(str(e.value) for kind in kinds for e in getattr(app, kind))


def wrapped_table(app, first: str) -> list[list[str]]:
    """Return the cells of the Markdown table whose first heading is given, headings first."""
    text = next(str(e.value) for e in app.markdown if str(e.value).startswith(f"| {first} |"))
    head, _, *rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in text.splitlines()]
    assert {len(row) for row in rows} == {len(head)}, "a cell broke its row"
    return [head, *rows]


def test_empty(empty, visit):
    app = visit("settings")
    assert "There is no corpus to delete" in words(app, "caption")
    assert "Spent budget stays" not in words(app, "markdown")
    assert "Translated so far" not in words(app, "caption"), "English is whole"
    assert app.text_input(key="settings.actor").value == ""  # nobody said who acts


def test_name_goes_into_the_audit_log(seeded, visit):
    app = visit("settings")
    app.text_input(key="settings.actor").set_value("Ada  Lovelace").run()
    app.run()
    other = engine.open_workspace(seeded.path)
    assert other.actor == "Ada Lovelace"
    other.audit.note("looked", "r-1")
    assert other.audit.lines(limit=1)["actor"].iloc[0] == "Ada Lovelace"


def test_empty_name_is_refused(seeded, visit):
    app = visit("settings")
    app.text_input(key="settings.actor").set_value("   ").run()
    assert "must not be empty" in words(app, "error")


def test_domain_reaches_new_runs(seeded, visit):
    app = visit("settings")
    app.selectbox(key="settings.domain").select("clinical").run()
    workspace = seeded.open()
    run = workspace.runs.get(workspace.jobs.synthesize(seeded.corpus, "filter", count=5))
    assert run.parameters["domain"] == "clinical"
    own = workspace.runs.get(
        workspace.jobs.synthesize(seeded.corpus, "filter", count=5, parameters={"domain": "legal"})
    )
    assert own.parameters["domain"] == "legal"
    assert "domain" not in workspace.runs.get(workspace.jobs.synthesize(seeded.corpus, "surrogate")).parameters


def test_self_check_is_a_table(seeded, visit):
    app = visit("settings")
    assert "**Not checked yet.**" in words(app, "markdown"), "the heading asks"
    assert " of its disk is free." in words(app, "markdown")
    app.button(key="settings.doctor").click().run(timeout=60)
    assert not app.exception
    last = seeded.open().settings.get(settings_parts.LAST)
    again = next(str(one.value) for one in visit("settings").markdown if "**Checked last " in str(one.value))
    if last["failed"]:
        assert f": {last['failed']} of {last['checks']} checks failed.** What was set up since" in again
    else:
        assert ": 0 checks passed" not in again
        assert "passed, none failed.** What was set up since" in again, "the answer is kept, for what it is of"
    passed = next(box for box in app.expander if box.label.endswith("passed"))
    table = wrapped_table(passed, "Result")
    assert {row[0] for row in table[1:]} == {"**passed**"}
    assert any("telemetry" in row[1] for row in table)
    failed = [str(one.value) for one in app.error if "failed" in str(one.value)]
    assert bool(failed) != ("Nothing could leave this machine" in words(app, "success")), "the heading's question"
    shown = [str(one.value) for one in app.markdown if "**FAILED**" in str(one.value)]
    assert len(failed) == len(shown) <= 1, "what failed stands open beside what passed"


def test_support_file_holds_no_record_text(seeded):
    workspace = seeded.open()
    data = settings_parts.support_file(workspace)
    content = b"".join(
        zipfile.ZipFile(io.BytesIO(data)).read(name) for name in zipfile.ZipFile(io.BytesIO(data)).namelist()
    )
    for text in [
        *workspace.corpora.records(seeded.corpus, limit=30)["text"],
        *workspace.runs.synthetic(seeded.run, limit=30)["text"],
    ]:
        for start in range(0, max(1, len(text) - 25), 25):
            assert text[start : start + 25].encode() not in content


def test_backup_is_written_and_a_second_one_refused(seeded, visit, tmp_path):
    target = tmp_path / "copy.zip"
    app = visit("settings", **{"settings.backup": str(target)})
    app.button(key="settings.backup.do").click().run()
    assert zipfile.is_zipfile(target)
    assert "Backup written" in words(app, "success")
    app.button(key="settings.backup.do").click().run()
    assert "exists already" in words(app, "error")


def test_a_backup_is_restored_beside_the_open_workspace(seeded, visit, tmp_path):
    workspace = seeded.open()
    file = workspace.disk.backup(tmp_path / "copy.zip")
    inside, new = seeded.path / "again", tmp_path / "again it is"
    app = visit("settings")
    assert app.button(key="settings.restore.do").disabled
    for folder in (inside, seeded.path):
        app.text_input(key="settings.restore.file").set_value(str(file))
        app.text_input(key="settings.restore.folder").set_value(str(folder))
        app.checkbox(key="settings.restore.sure").check().run()
        app.button(key="settings.restore.do").click().run()
        assert "lies in the workspace that is open" in words(app, "error")
        assert not app.checkbox(key="settings.restore.sure").value, "each time is asked for anew"
    app.text_input(key="settings.restore.folder").set_value(str(new))
    app.checkbox(key="settings.restore.sure").check().run()
    app.button(key="settings.restore.do").click().run()
    assert not app.exception
    assert "Restored into" in words(app, "success")
    assert any(str(new) in str(code.value) for code in app.code)
    again = engine.open_workspace(new)
    assert [one.id for one in again.corpora.all()] == [one.id for one in workspace.corpora.all()]
    assert again.ledger.of(seeded.corpus).unknown_since is not None
    again.close()


def test_what_is_no_backup_is_refused_and_leaves_nothing(seeded, visit, tmp_path):
    (tmp_path / "no.zip").write_bytes(b"not a backup")
    app = visit("settings")
    app.text_input(key="settings.restore.file").set_value(str(tmp_path / "no.zip"))
    app.text_input(key="settings.restore.folder").set_value(str(tmp_path / "new"))
    app.checkbox(key="settings.restore.sure").check().run()
    app.button(key="settings.restore.do").click().run()
    assert "not a complete backup" in words(app, "error")
    assert not (tmp_path / "new").exists()


def test_deletion_needs_the_name(seeded, visit):
    workspace = seeded.open()
    name = workspace.corpora.get(seeded.corpus).name
    app = visit("settings", **{"settings.delete.corpus": seeded.corpus})
    assert "Spent budget stays.]" in words(app, "markdown")
    assert app.button(key="settings.delete.do").disabled
    app.text_input(key=f"settings.delete.name.{seeded.corpus}").set_value(name.lower()).run()
    assert app.button(key="settings.delete.do").disabled
    app.text_input(key=f"settings.delete.name.{seeded.corpus}").set_value(name).run()
    app.button(key="settings.delete.do").click().run()
    assert not app.exception
    assert workspace.corpora.all() == []
    assert "deleted" in words(app, "success")


def test_policies_stand_side_by_side(empty, visit):
    table = wrapped_table(visit("settings"), "Rule")
    titles = ["Exploratory", "Internal sharing", "Research release", "Public release", "Proof alone"]
    assert table[0] == ["Rule", *titles]
    assert ["**A second person signs**", "–", "–", "–", "yes", "yes"] in table
    rows = {row[0]: row[1:] for row in table}
    assert rows["**The guarantee is strong enough**"][-1] == "ε at most 10", "no bare value"
    alike = next(row for head, row in rows.items() if head.startswith("**Few records contain a real identifier"))
    assert alike[1].startswith("at most 10 percentage points")
    names = next(row for head, row in rows.items() if head.startswith("**Names and numbers of people"))
    assert names[1].startswith("at most 20 percentage points"), "a difference of two shares is said one way"
    assert not [
        cell for row in table for cell in row if " pp" in cell or "0.0%" in cell or " 1 percentage points" in cell
    ]
    sample = next(row for head, row in rows.items() if head.startswith("**How much was missed is known"))
    assert sample[1:3] == ["75 texts read", "190 texts read, 20 by a second person"]
    words_of = [" ".join(row) for row in table]
    assert not [line for line in words_of if "training part" in line or "holdout" in line], "plain words"
    for policy in engine.open_workspace(empty).releases.policies():
        for rule in policy.rules:
            assert any(rule.title in row for row in words_of), "as the gate calls it"


def test_what_a_rule_looks_at_is_said_in_plain_words_and_else_by_its_measure():
    def rule(finding: str, reference: str, above: str | None = None) -> SimpleNamespace:
        return SimpleNamespace(finding=finding, reference=reference, above=above)

    said = settings_policies.looks_at
    assert said(rule("pipp_excess", "holdout")) == (
        "Records with an identifier from the text used, beyond what chance gives"
    )
    assert said(rule("verbatim_8gram", "train", "holdout")) == (
        "Records that repeat eight words in a row from the text used, beyond those from text that nobody used"
    )
    assert said(rule("label_direct", "train")) == "Labels with a name or number of a person from the text used"
    assert said(rule("pipp", "baseline")) == "Records with a private entity: real records in place of synthetic ones"
    assert said(rule("fid", "real")).endswith("real against real")


def test_storage_adds_up(seeded):
    used = seeded.open().disk.used()
    assert used["total"] == sum(size for name, size in used.items() if name != "total")
    assert used["database"] > 0
    assert used["corpora"] > 0


def test_storage_says_every_part_whole(seeded, visit):
    lines = next(m.value for m in visit("settings").markdown if "What takes up room" in m.value).splitlines()[2:]
    assert len(lines) == len(settings_parts.PARTS)
    for line, name in zip(lines, settings_parts.PARTS.values(), strict=True):
        assert re.fullmatch(rf"\| {re.escape(name)} \| \d[\d,.]*\xa0(GB|MB|kB|bytes) \|", line)


def test_a_template_is_changed_previewed_and_taken_back(empty, visit):
    app = visit("settings")
    app.selectbox(key="prompts.domain").select("legal").run()
    app.selectbox(key="prompts.name").select("vary").run()
    area = app.text_area(key="prompts.text.legal.vary")
    shipped = area.value
    assert app.button(key="prompts.save").disabled
    area.set_value("Say it anew: {{ text }}").run()
    assert any("Say it anew: The bus came late" in code.value for code in app.code)
    app.button(key="prompts.save").click().run()
    assert "saved for new runs" in words(app, "success", "toast", "info")
    assert app.button(key="prompts.save").disabled
    app.button(key="prompts.reset").click().run()
    assert app.text_area(key="prompts.text.legal.vary").value == shipped


def test_prompts_of_the_rewriting_loop_are_edited_like_the_others(empty, visit):
    app = visit("settings")
    app.selectbox(key="prompts.domain").select("clinical").run()
    app.selectbox(key="prompts.name").select("rewriter").run()
    assert any("of each: .text, .private" in m.value for m in app.markdown)
    area = app.text_area(key="prompts.text.clinical.rewriter")
    area.set_value("Tell it of nobody: {{ original }}").run()
    assert any(code.value.startswith("Tell it of nobody: The bus came late") for code in app.code)
    app.button(key="prompts.save").click().run()
    assert "saved for new runs" in words(app, "success", "toast", "info")
    app.selectbox(key="prompts.name").select("privacy_judge").run()
    app.text_area(key="prompts.text.clinical.privacy_judge").set_value("{{ text }} {{ candidates|join }}").run()
    assert "must ask for a line" in words(app, "error")
    assert not app.exception


def test_a_template_that_computes_is_refused(empty, visit):
    app = visit("settings")
    app.selectbox(key="prompts.name").select("vary").run()
    app.text_area(key="prompts.text.generic.vary").set_value("{{ text * 9 }}").run()
    assert "is not allowed" in words(app, "error")
    app.button(key="prompts.save").click().run()
    assert "is not allowed" in words(app, "error")
    assert not app.exception


def test_a_corpus_deleted_in_another_window_meets_a_sentence(seeded, visit):
    name = seeded.open().corpora.get(seeded.corpus).name
    app = visit("settings", **{"settings.delete.corpus": seeded.corpus})
    assert "stays spent" in words(app, "markdown")
    app.text_input(key=f"settings.delete.name.{seeded.corpus}").set_value(name).run()
    seeded.open().corpora.delete(seeded.corpus)
    app.button(key="settings.delete.do").click().run()
    assert not app.exception
    assert "corpus" in words(app, "error")


def test_an_own_policy_is_shown_and_removed(seeded, visit):
    from tests.store.test_own_policies import OWN

    workspace = engine.open_workspace(seeded.path)
    workspace.releases.add_policy(OWN)
    app = visit("settings")
    assert "Ward team" in wrapped_table(app, "Rule")[0]
    assert any("id: ward" in str(one.value) for one in app.code)
    app.button(key="settings.policies.remove.ward").click().run()
    assert not app.exception
    assert workspace.releases.own_policies() == {}
    assert "no longer in force" in words(app, "success")
