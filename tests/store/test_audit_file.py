"""The audit log as a file: checked by its rule alone, held against the log later, and without a word of any record."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import shutil

import pytest

from engine.errors import UserError
from engine.store.disk import heads
from engine.store.logs.check import check_logs
from engine.store.review import chained, marks
from tests.store.conftest import CANARY
from tests.store.making import unguard
from tests.store.test_audit import lines, tamper

FIELDS = ("seq", "at", "actor", "action", "subject", "detail", "hash")


def holds(rows) -> bool:
    """Check rows as the file's own rule says, with nothing of this program."""
    previous = "0" * 64
    for row in rows:
        content = {name: int(row[name]) if name == "seq" else row[name] for name in FIELDS}
        body = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        if row["previous"] != previous or row["sha256"] != hashlib.sha256((previous + body).encode()).hexdigest():
            return False
        previous = row["sha256"]
    return True


def rows_of(data: bytes, kind: str) -> list[dict]:
    if kind == "json":
        return json.loads(data)["lines"]
    read = csv.DictReader(io.StringIO(data.decode(), newline=""))
    return [{name: cell.removeprefix("'") for name, cell in row.items()} for row in read]


@pytest.fixture
def written(store):
    store.session.actor = "=HYPERLINK(1)"
    lines(store, 3)
    store.session.actor = "'Zoë\u2028"
    store.audit.note("looked", "-1+1", reason='@SUM, "quoted"\nnew line')
    return store


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_a_file_is_checked_by_its_rule_and_every_change_shows(written, kind):
    rows = rows_of(written.audit.export(kind), kind)
    assert [int(row["seq"]) for row in rows] == [1, 2, 3, 4]
    assert rows[3]["actor"] == "'Zoë\u2028"
    assert holds(rows)
    for number in range(4):
        for name in (*FIELDS, "previous", "sha256"):
            other = [dict(row) for row in rows]
            other[number][name] = "7"
            assert not holds(other), (number, name)
    assert not holds(rows[1:])
    assert not holds([rows[1], rows[0], *rows[2:]])


def test_both_kinds_end_with_the_same_head_and_the_log_keeps_it(written):
    one, two = (rows_of(written.audit.export(kind), kind) for kind in ("json", "csv"))
    assert one[-1]["sha256"] == two[3]["sha256"]
    log = written.audit.lines(limit=2)
    assert log["action"].tolist() == ["audit log exported"] * 2
    assert [json.loads(detail)["sha256"] for detail in log["detail"]] == [two[-1]["sha256"], one[-1]["sha256"]]
    assert json.loads(log["detail"][1])["lines"] == 4


def test_no_cell_of_the_csv_file_is_run_by_a_spreadsheet(written):
    cells = [cell for row in csv.reader(io.StringIO(written.audit.export("csv").decode(), newline="")) for cell in row]
    assert len(cells) == 9 * 5
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert {"'=HYPERLINK(1)", "'-1+1", "''Zoë\u2028"} <= set(cells)


def test_a_file_of_another_kind_is_refused(store):
    with pytest.raises(UserError, match="json, csv"):
        store.audit.export("xlsx")
    assert store.audit.count() == 0


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_an_export_of_one_corpus_has_its_lines_alone_and_no_word_of_a_record(store, corpus, kind):
    texts = store.corpora.records(corpus.id)
    record = texts["record_id"].iloc[0]
    span = store.review.spans(corpus.id, record)[0]
    store.review.decide(corpus.id, [span.span_id], "reject")
    store.review.decide(corpus.id, [span.span_id], "relabel", label="LOCATION")
    store.review.set_note(corpus.id, record, f"about {CANARY}")
    store.spot_checks.draw(corpus.id, 30, twice=3)
    lines(store, 2)  # of no corpus
    mine, whole = store.audit.export(kind, corpus.id), store.audit.export(kind)
    rows = rows_of(mine, kind)
    assert holds(rows)
    assert 4 <= len(rows) < len(rows_of(whole, kind))
    for data in (mine, whole):
        for canary in ("Quillfeather", "Zanzibarnacle", "sore knee", "knee", "north"):
            assert canary.encode() not in data, canary


def test_an_untouched_workspace_holds_and_an_earlier_export_too(store, corpus):
    data = [store.audit.export(kind) for kind in ("json", "csv")]
    lines(store, 2)
    for export in (None, *data):
        found = check_logs(store.path, export)
        assert (found.broken, found.lines["audit"], found.head[0]) == ((), store.audit.count(), store.audit.count())
    head = check_logs(store.path).head
    assert head[1] == json.loads(store.audit.export("json"))["head"]
    assert store.audit.count() == head[0] + 1, "checking writes no line"


def broken(store):
    found = check_logs(store.path).broken
    assert found == tuple(f"Audit log: {one.sentence}" for one in store.audit.breaks())
    return found


@pytest.mark.parametrize(
    ("statements", "told"),
    [
        (("UPDATE audit SET actor = 'x' WHERE seq = 5",), ["changed 5-5"]),
        (("UPDATE audit SET actor = 'x' WHERE seq IN (2, 7)",), ["changed 2-2", "changed 7-7"]),
        ((f"UPDATE audit SET actor = 'x', hash = '{'a' * 64}' WHERE seq = 5",), ["changed 5-6"]),
        (("DELETE FROM audit WHERE seq IN (4, 5)",), ["removed 4-5"]),
        (("DELETE FROM audit WHERE seq = 1",), ["removed 1-1"]),
        # the rest renumbered, so that no gap shows
        (("DELETE FROM audit WHERE seq = 4", "UPDATE audit SET seq = seq - 1 WHERE seq > 4"), ["removed 4-11", "cut"]),
        (("UPDATE audit SET seq = -5 WHERE seq = 5", "UPDATE audit SET seq = 5 WHERE seq = 6",
          "UPDATE audit SET seq = 6 WHERE seq = -5"), ["moved 5-6"]),
        (("UPDATE audit SET seq = -2 WHERE seq = 2", "UPDATE audit SET seq = 2 WHERE seq = 9",
          "UPDATE audit SET seq = 9 WHERE seq = -2"), ["moved 2-9"]),
        (("DELETE FROM audit WHERE seq > 10",), ["cut"]),
        (("DELETE FROM audit WHERE seq > 10", "DELETE FROM audit_head"), ["cut"]),
        (("DELETE FROM audit_head",), ["head 12-12"]),
        (("UPDATE audit_head SET seal = 'x'",), ["head 12-12"]),
        (("UPDATE audit SET seq = -seq WHERE seq >= 5", "UPDATE audit SET seq = 1 - seq WHERE seq < 0",
          "INSERT INTO audit SELECT 5, at, 'x', action, subject, detail, hash FROM audit WHERE seq = 4"),
         ["added 5-13"]),
    ],
)  # fmt: skip
def test_each_kind_of_tampering_is_told(store, statements, told):
    lines(store, 12)
    tamper(store, *statements)
    assert broken(store)
    found = [f"{one.kind} {one.first}-{one.last}" for one in store.audit.breaks()]
    assert [one if one in told else one.split()[0] for one in found] == told


def test_a_history_written_anew_with_the_key_shows_against_an_export(store, corpus):
    data = store.audit.export("json")
    body = json.loads(data)
    with store.session.db.write() as connection:
        unguard(connection, "audit")
        connection.exec_driver_sql("DELETE FROM audit")
        connection.exec_driver_sql("DELETE FROM audit_head")
        for _ in range(len(body["lines"]) + 1):
            store.session.write_audit(connection, "nothing happened")
        marks.add(connection, corpus.id, marks.total(connection, store.session.key, corpus.id))
        store.session.write_audit(
            connection, "corpus imported", corpus.id, **chained.told(connection, store.session.key, corpus.id)
        )
    assert "another one than the head beside the key knows" in " ".join(check_logs(store.path).broken)
    heads.keep(store.folder, store.session.db, store.session.key, anew=True)  # as somebody who has the key could
    assert check_logs(store.path).broken == ()
    (said,) = check_logs(store.path, data).broken
    assert "are others in the log, from line 1 on" in said


def test_a_file_that_was_changed_is_no_witness(store):
    lines(store, 4)
    data, sheet = (store.audit.export(kind) for kind in ("json", "csv"))
    for bad in (
        data.replace(b"t-2", b"t-9"),
        sheet.replace(b"t-2", b"t-9"),
        json.dumps({**json.loads(data), "lines": json.loads(data)["lines"][:-1]}).encode(),
        b"",
        b"{}",
        b"\xff\xfe",
        b"a,b\r\n1,2\r\n",
    ):
        with pytest.raises(UserError, match="audit file"):
            check_logs(store.path, bad)


def without(data, number):
    """Return a JSON export without a line, its chain made anew by its own public rule."""
    body = json.loads(data)
    del body["lines"][number]
    previous = "0" * 64
    for row in body["lines"]:
        said = json.dumps({name: row[name] for name in FIELDS}, sort_keys=True, separators=(",", ":"))
        row["previous"] = previous
        row["sha256"] = previous = hashlib.sha256((previous + said).encode()).hexdigest()
    return json.dumps({**body, "head": previous, "count": len(body["lines"])}).encode()


def test_a_file_whose_chain_was_made_anew_without_a_line_is_found_out(store):
    lines(store, 4)
    data = store.audit.export("json")
    assert holds(rows_of(without(data, -1), "json"))
    (said,) = check_logs(store.path, without(data, -1)).broken
    assert "No line of the log tells of this export" in said
    with pytest.raises(UserError, match="whole log and lacks lines"):
        check_logs(store.path, without(data, 1))


def test_the_lines_of_one_corpus_are_not_passed_off_as_the_whole_log(store, corpus):
    lines(store, 2)
    store.corpora.rename(corpus.id, "Others")
    data = store.audit.export("json", corpus.id)
    assert check_logs(store.path, data).broken == ()
    with pytest.raises(UserError, match="whole log and lacks lines"):
        check_logs(store.path, json.dumps({**json.loads(data), "corpus": None}).encode())


def test_a_log_put_back_to_the_moment_of_the_export_is_found_out(store):
    lines(store, 3)
    before = store.path.parent / "before"
    shutil.copytree(store.path, before)
    data = store.audit.export("json")
    assert check_logs(store.path, data).broken == ()
    assert check_logs(before).broken == (), "database, heads and key fit together"
    (said,) = check_logs(before, data).broken
    assert "the log was put back" in said


def test_a_database_that_was_put_back_is_checked_and_not_opened_for_work(store):
    lines(store, 6)
    tamper(store, "DELETE FROM audit WHERE seq > 4", "UPDATE audit_head SET seq = 4")
    store.close()
    found = check_logs(store.path)
    assert found.broken == ("Audit log: The end was cut off: lines 5 to 6 once stood here.",)
