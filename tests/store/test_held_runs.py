"""A run that was changed outside of the program is found, told in words, and stops a release.

Each test changes rows as somebody could who has the database and the folder in hand, but not the key; some let the
program go on, or put the rows back, and ask again.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import ExitStack, closing
from dataclasses import replace

import pandas as pd
import pytest
from sqlalchemy import select, text, update

from engine.errors import RefusedError, StorageError
from engine.store.database import schema
from engine.store.disk import heads
from engine.store.logs.check import check_logs
from engine.store.records import write_table
from engine.store.runs import chained, held
from engine.store.store import Store
from tests.store.making import examine, finding, finished_run, unguard

TEXTS = [f"Made-up letter {i}." for i in range(12)]
RISKS = {"s-000002": 0.4, "s-000003": 0.9}


def broken(store):
    return " ".join(check_logs(store.path).broken)


def edited(store, *statements, **values):
    with store.session.db.write() as connection:
        for statement in statements:
            connection.execute(text(statement), values)


def as_json(store, statement):
    """Return a statement that replaces a part of a value of JSON, which is no text on PostgreSQL."""
    if store.session.db.is_file or "replace(" not in statement:
        return statement
    return statement.replace("= replace(", "= CAST(replace(").replace("') WHERE", "') AS json) WHERE")


def rows_of(store, *tables):
    with store.session.db.read() as connection:
        return {table: [dict(row._mapping) for row in connection.execute(select(table))] for table in tables}


def put_back(store, kept):
    with store.session.db.write() as connection:
        for table in reversed(list(kept)):
            connection.execute(table.delete())
        for table, rows in kept.items():
            if rows:
                connection.execute(table.insert(), rows)


@pytest.fixture
def run_id(store, corpus):
    """A run that was made, examined and approved in part, and another one beside it."""
    made = finished_run(store, corpus, TEXTS)
    other = finished_run(store, corpus, [f"Another letter {i}." for i in range(12)])
    for one, value in ((made, 0.2), (other, 0.1)):
        examine(store, one, [finding("pipp", value), finding("mauve", 0.9, "utility", "none")], RISKS)
    store.runs.approve(made, ["s-000001", "s-000002", "s-000002"], "approved")
    store.runs.approve(made, ["s-000003"], "rejected")
    store.runs.approve_all_pending(made, 0.5)
    return made


def test_what_the_program_wrote_holds(store, run_id):
    assert broken(store) == ""
    assert held.of_run(store.session, run_id) == held.of_run(store.session, run_id, anew=False) == ()
    assert store.audit.untrue() == store.audit.outside() == ()
    held.demand(store.session, run_id)


PARTS = [
    ("UPDATE runs SET method = 'public' WHERE id = :run", "its settings"),
    ("UPDATE runs SET seed = 4 WHERE id = :run", "its settings"),
    ("UPDATE runs SET \"count\" = 5 WHERE id = :run", "its settings"),
    ("UPDATE runs SET model = 'x' WHERE id = :run", "its settings"),
    ("UPDATE runs SET created = '2020' WHERE id = :run", "its settings"),
    ("UPDATE runs SET parameters = '{\"temperature\": 0.2}' WHERE id = :run", "its settings"),
    ("UPDATE runs SET manifest = '{\"seed\": 1}' WHERE id = :run", "its settings"),
    ("UPDATE runs SET revision = 7 WHERE id = :run", "its settings"),
    ("UPDATE runs SET needs_spans = FALSE WHERE id = :run", "its settings"),
    ("UPDATE runs SET guarantee = (SELECT manifest FROM runs WHERE id = :run) WHERE id = :run", "its guarantee"),
    ("UPDATE runs SET guarantee = replace(CAST(guarantee AS TEXT), 'null', '0.5') WHERE id = :run", "its guarantee"),
    ("UPDATE runs SET state = 'failed' WHERE id = :run", "its end"),
    ("UPDATE runs SET finished = '2020' WHERE id = :run", "its end"),
    ("UPDATE runs SET kept = 11 WHERE id = :run", "their number"),
    ("UPDATE runs SET funnel = '{}' WHERE id = :run", "counts"),
    ("UPDATE runs SET diagnostics = '{\"a\": 1}' WHERE id = :run", "notes"),
    ("UPDATE runs SET state_json = '{}' WHERE id = :run", "notes"),
    ("UPDATE runs SET sealed = NULL WHERE id = :run", "its texts"),
    ("UPDATE runs SET examined_at = NULL WHERE id = :run", "when it was examined"),
    ("UPDATE runs SET examined_revision = 9 WHERE id = :run", "when it was examined"),
    ("UPDATE findings SET body = replace(CAST(body AS TEXT), '0.2', '0.1') WHERE run_id = :run AND position = 0",
     "findings of its privacy"),
    ("UPDATE findings SET body = '{}' WHERE run_id = :run AND position = 1", "findings of its utility"),
    ("DELETE FROM findings WHERE run_id = :run AND position = 0", "findings of its privacy"),
    ("DELETE FROM findings WHERE run_id = :run", "findings of its"),
    ("INSERT INTO findings (run_id, position, body) SELECT run_id, 7, body FROM findings "
     "WHERE run_id = :run AND position = 0", "findings of its privacy"),
    ("INSERT INTO findings (run_id, position, body) VALUES (:run, 8, '{\"group\": \"other\"}')", "1 findings are"),
]  # fmt: skip

TEXTS_CHANGED = [
    ("UPDATE synthetic SET text = 'Other.' WHERE run_id = :run AND position = 3", "its texts"),
    ("UPDATE synthetic SET label = 'hip' WHERE run_id = :run AND position = 3", "its texts"),
    ("UPDATE synthetic SET lineage = NULL WHERE run_id = :run AND position = 3", "its texts"),
    ("UPDATE synthetic SET record_id = 's-9' WHERE run_id = :run AND position = 3", "its texts"),
    ("UPDATE synthetic SET position = 50 WHERE run_id = :run AND position = 3", "its texts"),
    ("DELETE FROM synthetic WHERE run_id = :run AND position > 9", "2 of its texts are missing"),
    ("INSERT INTO synthetic (run_id, position, record_id, text, approval) "
     "VALUES (:run, 12, 's-000013', 'In.', 'approved')", "1 of its texts are more than it made"),
    ("UPDATE synthetic SET approval = 'approved' WHERE run_id = :run AND position = 2", "approvals or risks"),
    ("UPDATE synthetic SET approval = 'pending' WHERE run_id = :run AND position = 0", "approvals or risks"),
    ("UPDATE synthetic SET approval = 'approved' WHERE run_id = :run AND approval = 'pending'", "approvals or risks"),
    ("UPDATE synthetic SET risk = 0.1 WHERE run_id = :run AND position = 2", "approvals or risks"),
    ("UPDATE synthetic SET risk = NULL WHERE run_id = :run", "approvals or risks"),
]  # fmt: skip


def test_a_part_that_was_changed_is_told_by_page_gate_and_check_until_it_is_put_back(store, run_id):
    """One workspace for all of them: each is put back, and holds again."""
    kept = rows_of(store, schema.runs, schema.synthetic, schema.findings)
    for place, (statement, sentence) in enumerate((*PARTS, *TEXTS_CHANGED)):
        edited(store, as_json(store, statement), run=run_id)
        assert f"run {run_id}: " in broken(store), statement
        assert sentence in broken(store), statement
        assert held.of_run(store.session, run_id), statement
        assert bool(held.of_run(store.session, run_id, anew=False)) == (place < len(PARTS)), statement
        with pytest.raises(RefusedError, match="audit --verify"):
            held.demand(store.session, run_id)
        put_back(store, kept)
        assert broken(store) == "", statement


@pytest.mark.parametrize("column", ["seconds", "kept", "seed", "needs_spans", "guarantee", "funnel", "state_json"])
@pytest.mark.parametrize("value", ["x", b"\xff\x00", 1.5])
def test_a_value_of_another_kind_is_told_and_stops_no_check(store, run_id, column, value):
    with closing(sqlite3.connect(store.folder.database)) as database:
        database.execute(f"UPDATE runs SET {column} = ? WHERE id = ?", (value, run_id))
        database.execute("UPDATE synthetic SET risk = ? WHERE run_id = ?", (value, run_id))
        database.commit()
    assert f"run {run_id}: " in broken(store)
    assert held.of_run(store.session, run_id)


def test_what_was_changed_does_not_come_to_hold_by_later_acts(store, corpus, run_id):
    edited(
        store,
        "UPDATE findings SET body = (SELECT body FROM findings AS f WHERE f.position = 0 AND f.run_id <> :run) "
        "WHERE position = 0 AND run_id = :run",
        "UPDATE synthetic SET approval = 'approved' WHERE run_id = :run AND position = 2",
        run=run_id,
    )
    examine(store, run_id, [finding("mauve", 0.8, "utility", "none")], groups=("utility",))
    store.runs.approve(run_id, ["s-000005"], "approved")
    store.runs.approve(run_id, ["s-000003"], "rejected")
    store.runs.approve_all_pending(run_id)
    store.runs.describe(run_id, name="A name", note="A note")
    assert "findings of its privacy" in broken(store)
    assert "approvals or risks" in broken(store)


def test_swapping_two_runs_is_told(store, run_id):
    other = next(one.id for one in store.runs.all() if one.id != run_id)
    found = rows_of(store, schema.synthetic, schema.findings)
    swap = {run_id: other, other: run_id}
    put_back(store, {t: [{**row, "run_id": swap[row["run_id"]]} for row in rows] for t, rows in found.items()})
    said = broken(store)
    assert f"run {run_id}: its texts" in said
    assert f"run {other}: its texts" in said
    assert said.count("findings of its privacy") == 2


def test_a_run_put_under_another_corpus_is_told(store, run_id, corpus):
    from tests.store.conftest import MAPPING, made_up

    other = store.corpora.import_table(made_up(40, 100), MAPPING, name="Other", unit="record", holdout=0.25)
    edited(store, "UPDATE runs SET corpus_id = :other WHERE id = :run", other=other.id, run=run_id)
    assert f"run {run_id}: its settings (corpus" in broken(store)


def copied(store, run_id, name, *tables):
    for table in tables:
        own = "id" if table is schema.runs else "run_id"
        names = ", ".join(f'"{column.name}"' for column in table.c if column.name != own)
        where = f"FROM {table.name} WHERE {own} = :run"
        edited(store, f"INSERT INTO {table.name} ({own}, {names}) SELECT '{name}', {names} {where}", run=run_id)


def test_a_run_under_another_id_is_told(store, run_id):
    copied(store, run_id, "r-another", schema.runs, schema.synthetic, schema.findings)
    assert "run r-another: it is there, and no line of the log tells of it" in broken(store)
    assert held.of_run(store.session, "r-another")
    assert not store.releases.gate("r-another", "exploratory").passed
    Store(store.path).close()
    assert "run r-another" in broken(store), "opening it does not bring it under the log"


def test_a_run_that_was_removed_or_came_back_is_told_and_one_that_was_deleted_is_not(store, corpus, run_id):
    kept = rows_of(store, schema.runs, schema.synthetic, schema.findings)
    edited(store, "DELETE FROM runs WHERE id = :run", run=run_id)
    assert f"run {run_id} was removed with its texts and findings" in broken(store)
    put_back(store, kept)
    assert broken(store) == ""
    store.runs.delete(run_id)
    assert broken(store) == ""
    put_back(store, kept)
    assert f"run {run_id}: it was deleted, and is there again" in broken(store)
    edited(store, "DELETE FROM runs WHERE id = :run", run=run_id)
    store.corpora.delete(corpus.id)
    assert broken(store) == ""


def test_an_earlier_state_of_a_run_is_told(store, run_id):
    tables = (schema.runs, schema.synthetic, schema.findings)
    kept = rows_of(store, *tables)
    examine(store, run_id, [finding("pipp", 0.6), finding("mauve", 0.9, "utility", "none")], {"s-000001": 0.99})
    store.runs.approve(run_id, ["s-000001"], "rejected")
    put_back(store, kept)
    said = broken(store)
    assert "findings of its privacy" in said
    assert "when it was examined" in said
    assert "approvals or risks" in said


def test_a_run_whose_line_was_changed_or_deleted_is_told(store, run_id):
    with store.session.db.write() as connection:
        unguard(connection, "audit")
        connection.execute(text("UPDATE audit SET detail = replace(detail, '\"asked\"', '\"aske\"')"))
    assert "was changed" in broken(store)
    assert held.of_run(store.session, run_id)
    assert not store.releases.gate(run_id, "exploratory", anew=True).passed


def test_a_history_cut_off_with_its_rows_shows_by_the_head_beside_the_key(store, run_id):
    tables = (schema.runs, schema.synthetic, schema.findings, schema.audit, schema.audit_head)
    kept = rows_of(store, *tables)
    examine(store, run_id, [finding("pipp", 0.6)])
    with store.session.db.write() as connection:
        unguard(connection, "audit")
    put_back(store, kept)
    assert "cut off" in broken(store)
    assert not store.releases.gate(run_id, "exploratory", anew=True).passed
    store.close()
    with pytest.raises(heads.RolledBackError):
        Store(store.path)


def test_the_table_of_originals_is_held(store, run_id):
    path = store.folder.run(run_id) / "originals.parquet"
    kept = path.read_bytes()
    write_table(path, pd.DataFrame({"record_id": ["s-000001"]}, dtype=object))
    assert "table of outputs that are an original was changed" in broken(store)
    assert store.audit.untrue()
    path.unlink()
    assert "table of outputs that are an original was changed" in broken(store)
    path.write_bytes(kept)
    assert broken(store) == ""


def test_a_table_of_originals_of_a_run_that_nobody_examined_for_them_is_told(store, corpus):
    made = finished_run(store, corpus, TEXTS)
    with store.session.db.write() as connection:
        found = [finding("mauve", 0.8, "utility", "none")]
        store.examinations.save(connection, made, found, {}, 0, ("utility",))
    assert broken(store) == ""
    store.examinations.save_tables(made, {"originals": pd.DataFrame({"record_id": []}, dtype=object)})
    assert "table of outputs that are an original was changed, removed or brought in" in broken(store)


def test_risks_that_were_lowered_for_a_moment_are_told(store, run_id):
    edited(store, "UPDATE synthetic SET risk = 0.01 WHERE run_id = :run AND position = 5", run=run_id)
    assert store.runs.approve_all_pending(run_id, 0.3)
    edited(store, "UPDATE synthetic SET risk = NULL WHERE run_id = :run AND position = 5", run=run_id)
    assert "approvals or risks" in broken(store)


def begun(store, corpus, kept=4):
    """Ask for a run and have a worker make the first texts; return its id."""
    made = finished_run(store, corpus, TEXTS[:kept], state="running")
    assert broken(store) == ""
    return made


def go_on(store, run_id, texts):
    """Make further texts as the worker does."""
    with store.session.db.write() as connection:
        row = connection.execute(select(schema.runs).where(schema.runs.c.id == run_id)).one()
        rows = [
            {"run_id": run_id, "position": row.kept + i, "record_id": f"s-{row.kept + i + 1:06d}", "text": one,
             "label": "knee", "lineage": None}
            for i, one in enumerate(texts)
        ]  # fmt: skip
        values = {"kept": row.kept + len(texts), "funnel": dict(row.funnel), "diagnostics": {}, "seconds": 1.5,
                  "state_json": {"seen": texts[:1]}}  # fmt: skip
        chained.grow(connection, store.session.key, row, rows, values)


def finish(store, run_id):
    with store.session.db.write() as connection:
        connection.execute(update(schema.runs).where(schema.runs.c.id == run_id).values(state="done", finished="2026"))
        chained.end(store.session, connection, run_id)


def test_a_run_that_grows_in_batches_holds_at_every_step(store, corpus):
    made = begun(store, corpus)
    go_on(store, made, ["Five.", "Six."])
    go_on(store, made, [])
    assert broken(store) == ""
    go_on(store, made, ["Sevén."])
    finish(store, made)
    assert broken(store) == ""


@pytest.mark.parametrize(
    "statement",
    ["UPDATE synthetic SET text = 'Other.' WHERE position = 1", "UPDATE runs SET state_json = '{\"seen\": []}'",
     "UPDATE runs SET funnel = '{}'", "UPDATE runs SET seconds = 0.5", "UPDATE runs SET sealed = NULL",
     "DELETE FROM synthetic WHERE position = 1"],
)  # fmt: skip
def test_what_was_changed_while_a_run_was_made_does_not_come_to_hold_by_its_end(store, corpus, statement):
    made = begun(store, corpus)
    edited(store, statement)
    assert f"run {made}: " in broken(store)
    if "SET sealed" not in statement and "synthetic" not in statement:
        with store.session.db.read() as connection, pytest.raises(RefusedError):
            held.demand_asked(store.session, connection, made)
    go_on(store, made, ["Five."])
    finish(store, made)
    assert f"run {made}: " in broken(store)
    assert held.of_run(store.session, made)


def test_a_run_that_was_made_finished_outside_of_the_program_is_told(store, corpus):
    made = begun(store, corpus)
    edited(store, "UPDATE runs SET state = 'done', finished = '2026'")
    assert "counts as finished, and no line of the log tells that it was" in broken(store)
    assert held.of_run(store.session, made, anew=False)


def test_a_run_counts_as_examined_by_a_line_alone(store, corpus):
    made = finished_run(store, corpus, TEXTS)
    edited(store, "UPDATE runs SET examined_at = '2026'")
    assert "counts as examined, and no line" in broken(store)
    added = 'INSERT INTO findings (run_id, position, body) VALUES (:run, 0, \'{"group": "privacy"}\')'
    edited(store, added, run=made)
    assert "1 findings are there that no line of the log tells of" in broken(store)


def test_nothing_is_approved_or_examined_under_a_trigger(store, run_id):
    act = "UPDATE synthetic SET approval = 'approved'"
    if store.session.db.is_file:
        edited(store, f"CREATE TRIGGER another AFTER UPDATE ON synthetic WHEN NEW.position = 5 BEGIN {act}; END")
    else:
        body = f"CREATE FUNCTION other() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {act}; RETURN NEW; END $$"
        when = "FOR EACH ROW WHEN (NEW.position = 5) EXECUTE FUNCTION other()"
        edited(store, body, f"CREATE TRIGGER another AFTER UPDATE ON synthetic {when}")
    with pytest.raises(StorageError, match="the trigger another"):
        store.runs.approve(run_id, ["s-000006"], "rejected")
    assert "given the trigger another outside of the program" in broken(store)
    assert held.of_run(store.session, run_id, anew=False)


def test_the_gate_tells_it_and_nobody_waives_it(store, run_id):
    edited(store, "UPDATE synthetic SET text = 'Other.' WHERE run_id = :run AND position = 1", run=run_id)
    line = next(one for one in store.releases.gate(run_id, "exploratory", anew=True).rules if one.rule == "run-held")
    assert line.passed is False
    with pytest.raises(RefusedError):
        store.releases.waive(run_id, "exploratory", "run-held", "Nobody will ever look at it", "2999-01-01")


CHANGES = [
    "UPDATE synthetic SET text = 'Other.' WHERE run_id = :run AND position = 1",
    "UPDATE synthetic SET label = 'hip' WHERE run_id = :run AND position = 1",
    "UPDATE synthetic SET lineage = NULL WHERE run_id = :run AND position = 1",
    "UPDATE runs SET model = 'another' WHERE id = :run",
    "UPDATE runs SET guarantee = replace(CAST(guarantee AS TEXT), 'No ', 'A ') WHERE id = :run",
    "DELETE FROM findings WHERE run_id = :run",
]


@pytest.fixture
def ready(store, corpus):
    """A run that the loosest policy lets pass."""
    made = finished_run(store, corpus, TEXTS)
    rules = next(one for one in store.releases.policies() if one.id == "exploratory").rules
    examine(
        store, made,
        [finding(rule.finding, 0.0, reference=name) for rule in rules for name in (rule.reference, rule.above) if name],
    )  # fmt: skip
    store.runs.approve_all_pending(made)
    assert store.releases.gate(made, "exploratory", anew=True).passed
    return made


@pytest.mark.parametrize("statement", CHANGES)
def test_a_change_while_the_release_is_written_is_noticed(store, ready, monkeypatch, statement):
    import engine.release

    write = engine.release.write_bundle

    def slowly(*arguments, **options):
        edited(store, as_json(store, statement), run=ready)
        return write(*arguments, **options)

    monkeypatch.setattr(engine.release, "write_bundle", slowly)
    with pytest.raises(RefusedError, match=r"audit --verify|gate says"):
        store.releases.make(ready, "exploratory", accept_unbounded=True)
    assert store.releases.all() == []


@pytest.mark.parametrize(("statement", "part"), [(CHANGES[0], "frame"), (CHANGES[1], "frame"), (CHANGES[3], "card")])
def test_a_change_that_is_put_back_before_the_release_is_recorded_is_noticed(
    store, ready, monkeypatch, statement, part
):
    kept, asked = rows_of(store, schema.runs, schema.synthetic, schema.findings), []
    of = store.releases.runs if part == "frame" else store.releases
    name = "synthetic_frame" if part == "frame" else "card"
    real = getattr(of, name)

    def another(*given):
        asked.append(given)
        if len(asked) > 1:  # as the release is recorded
            return real(*given)
        edited(store, statement, run=ready)
        found = real(*given)
        put_back(store, kept)
        return found

    monkeypatch.setattr(of, name, another)
    with pytest.raises(RefusedError, match="changed outside of the program while the release was written"):
        store.releases.make(ready, "exploratory", accept_unbounded=True)
    assert broken(store) == ""
    assert store.releases.all() == []


def test_findings_that_were_others_while_the_gate_read_them_are_noticed(store, ready, monkeypatch):
    real, asked = store.releases.examinations.findings, []

    def others(run_id):
        asked.append(run_id)
        found = real(run_id)
        return found if len(asked) > 1 else [replace(one, value=0.001) for one in found]

    monkeypatch.setattr(store.releases.examinations, "findings", others)
    with pytest.raises(RefusedError, match="What the gate says of the run changed"):
        store.releases.make(ready, "exploratory", accept_unbounded=True)


def earlier(store, every=False):
    """Have the log tell of runs, or of all rows, as an earlier edition did, without digests, chained by the key."""
    from engine.store import audit
    from engine.store.chain import GENESIS, canonical

    with store.session.db.write() as connection:
        unguard(connection, "audit")
        previous = GENESIS
        for row in connection.execute(select(schema.audit).order_by(schema.audit.c.seq)).all():
            line = {name: getattr(row, name) for name in audit.CHAIN.columns[:-1]}
            said = json.loads(line["detail"])
            if line["action"] in chained.TELLING:
                said = {k: v for k, v in said.items() if k in ("corpus", "method", "count", "findings", "records")}
            if every:
                said.pop("row", None)
                said.pop("people_held", None)
            line["detail"] = canonical(said)
            previous = audit.CHAIN.digest(store.session.key, previous, line)
            values = {"detail": line["detail"], "hash": previous}
            connection.execute(update(schema.audit).where(schema.audit.c.seq == row.seq).values(**values))
        seal = audit.CHAIN.seal(store.session.key, row.seq, previous)
        connection.execute(update(schema.audit_head).values(seal=seal))
        connection.execute(update(schema.runs).values(sealed=None))
    heads.keep(store.folder, store.session.db, store.session.key, anew=True)


def test_a_run_of_an_earlier_edition_is_told_as_that_and_stays_so(store, corpus, run_id):
    earlier(store)
    found = check_logs(store.path)
    assert found.broken == ()
    assert sum("settings, guarantee, texts and approvals are not under the log" in one for one in found.outside) == 2
    assert sum("privacy and utility; these findings are not under the log" in one for one in found.outside) == 2
    examine(store, run_id, [finding("pipp", 0.3)], groups=("privacy",))
    store.runs.approve_all_pending(run_id)
    found = check_logs(store.path)
    assert found.broken == ()
    assert sum("texts and approvals are not under" in one for one in found.outside) == 2, "not blessed by later acts"
    assert any(f"run {run_id}: an earlier edition examined its utility;" in one for one in found.outside)
    line = next(one for one in store.releases.gate(run_id, "exploratory").rules if one.rule == "run-held")
    assert line.passed
    assert "not under the audit log" in line.sentence
    edited(store, "DELETE FROM findings WHERE run_id = :run AND position = 1", run=run_id)
    assert "findings of its privacy" in broken(store), "what was examined since is held"


def test_a_run_of_an_earlier_edition_that_is_finished_now_is_not_brought_under_the_log(store, corpus):
    made = begun(store, corpus)
    earlier(store)
    go_on(store, made, ["Five."])
    finish(store, made)
    found = check_logs(store.path)
    assert found.broken == ()
    assert any(made in one for one in found.outside)


def test_a_run_of_an_earlier_edition_is_held_against_the_little_that_its_line_tells(store, run_id):
    earlier(store)
    edited(store, "UPDATE runs SET method = 'public' WHERE id = :run", run=run_id)
    assert "its corpus, method or count is another than the log tells of" in broken(store)
    with store.session.db.read() as connection:
        held.demand_asked(store.session, connection, run_id)


def test_a_run_is_not_passed_off_as_one_of_an_earlier_edition(store, run_id):
    edited(store, "UPDATE runs SET sealed = NULL", "DELETE FROM settings WHERE key LIKE '%chained%'")
    assert f"run {run_id}: what it says of its texts" in broken(store)


def test_a_backup_and_a_copy_hold_as_they_did(store, corpus, run_id, tmp_path):
    from engine.store import restore

    store.disk.backup(tmp_path / "kept.zip")
    restore(tmp_path / "kept.zip", tmp_path / "restored", "tester")
    again = Store(tmp_path / "restored")
    assert broken(again) == ""
    again.runs.approve(run_id, ["s-000004"], "approved")
    assert broken(again) == ""
    again.close()


def test_who_adds_a_run_and_tells_nothing_is_refused(store, corpus):
    values = {"id": "r-1", "corpus_id": corpus.id, "method": "m", "title": "t", "parameters": {}, "seed": 1,
              "model": "b", "count": 1, "state": "queued", "created": "now", "funnel": {}, "diagnostics": {},
              "guarantee": {}, "manifest": {}, "revision": 0, "needs_spans": False}  # fmt: skip
    begin = ExitStack()
    connection = begin.enter_context(store.session.db.write())
    chained.begin(connection, store.session.key, values)
    with pytest.raises(AssertionError, match="no line of the audit log"):
        begin.close()
    assert store.runs.all() == []
