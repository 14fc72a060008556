"""The gate decides, the bundle holds approved records, files are checked on the way out."""

import hashlib
import json
import shutil
import zipfile

import pandas as pd
import pytest
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from engine.dp.guarantee import Guarantee
from engine.errors import NotFoundError, RefusedError, StorageError, UserError
from engine.release import verify
from engine.release.bundle.signing import make_key
from engine.store import restore
from engine.store.database.schema import revocations, seen_outputs
from engine.store.logs.check import check_logs
from engine.store.store import Store
from tests.store.conftest import CANARY, MAPPING, made_up
from tests.store.making import examine, finding, finished_run
from tests.store.span_tables import add_span

TEXTS = [f"Made-up letter {i} about a knee." for i in range(8)]


@pytest.fixture
def run_id(store, corpus):
    """A run that was examined with everything the exploratory policy asks for, and approved."""
    made = finished_run(store, corpus, TEXTS)
    policy = next(p for p in store.releases.policies() if p.id == "exploratory")
    found = [finding(r.finding, 0.0, reference=r.reference) for r in policy.rules]
    found += [finding(r.finding, 0.0, reference=r.above) for r in policy.rules if r.above]
    examine(store, made, found)
    store.runs.approve(made, [f"s-{i:06d}" for i in range(1, 7)], "approved")
    store.runs.approve(made, ["s-000007", "s-000008"], "rejected")
    return made


def test_a_run_that_was_not_examined_is_refused(store, corpus):
    bare = finished_run(store, corpus, TEXTS)
    store.runs.approve_all_pending(bare)
    assert not store.releases.gate(bare, "exploratory").passed
    with pytest.raises(RefusedError, match="not met"):
        store.releases.make(bare, "exploratory")
    assert store.releases.all() == []
    assert list((store.folder.path / "releases").iterdir()) == []


def test_a_release_holds_the_approved_records_and_no_more(store, corpus, run_id):
    released = store.releases.make(run_id, "exploratory", accept_unbounded=True)
    assert released.records == 6
    assert store.releases.all(corpus.id) == [released]
    lines = store.releases.file(released.id, "records.jsonl").decode().splitlines()
    assert {json.loads(line)["text"] for line in lines} == set(TEXTS[:6])
    for name, digest in released.sha256.items():
        assert hashlib.sha256(store.releases.file(released.id, name)).hexdigest() == digest
    everything = b"".join(store.releases.file(released.id, name) for name in released.files)
    for internal in (CANARY, "s-000001", "id1", corpus.id, run_id):
        assert internal.encode() not in everything
    assert store.runs.get(run_id).released_at
    assert store.corpora.get(corpus.id).next_step == "done"
    assert [p for p in store.folder.release(released.id).rglob("*") if p.stat().st_mode & 0o077] == []
    line = store.audit.lines(limit=1).iloc[0]
    assert line["action"] == "records released"
    assert json.loads(line["detail"])["manifest_sha256"] == released.sha256["manifest.json"]


@pytest.mark.parametrize("name", ["bundle", "bundle.zip"])
def test_a_copy_goes_where_it_was_asked_for(store, run_id, tmp_path, name):
    released = store.releases.make(run_id, "exploratory", accept_unbounded=True, out=tmp_path / name, formats=("csv",))
    if name.endswith(".zip"):
        with zipfile.ZipFile(tmp_path / name) as archive:
            assert set(archive.namelist()) == set(released.files)
    else:
        assert {p.name for p in (tmp_path / name).iterdir()} == set(released.files)
    with pytest.raises(UserError, match="exists already"):
        store.releases.make(run_id, "exploratory", accept_unbounded=True, out=tmp_path / name)
    assert len(store.releases.all()) == 1


def test_stale_spans_close_the_gate(store, corpus, run_id):
    assert store.releases.gate(run_id, "exploratory").passed
    add_span(store, corpus.id, "id1", 0, 6, "CODE")
    assert not store.releases.gate(run_id, "exploratory").passed
    with pytest.raises(RefusedError):
        store.releases.make(run_id, "exploratory", accept_unbounded=True)


def test_a_changed_released_file_is_not_handed_out(store, run_id):
    released = store.releases.make(run_id, "exploratory", accept_unbounded=True)
    path = store.folder.release(released.id) / "records.csv"
    path.write_bytes(path.read_bytes() + b"more")
    with pytest.raises(RefusedError, match="changed after"):
        store.releases.file(released.id, "records.csv")
    with pytest.raises(NotFoundError):
        store.releases.file(released.id, "../../workspace.key")


def test_approvals_that_change_meanwhile_stop_the_release(store, run_id):
    records = store.runs.synthetic_frame(run_id)
    store.runs.approve(run_id, ["s-000001"], "rejected")
    from engine.store.views import ReleaseSummary

    examined = store.runs.get(run_id).examined_at
    summary = ReleaseSummary("rel-x", run_id, "c-x", "now", 6, "exploratory", "x", {}, {})
    with pytest.raises(RefusedError, match="Approvals changed"):
        store.releases._record(
            summary, records, accepted=True, examined=examined, policy=store.releases.policies()[0],
            verdict=store.releases.gate(run_id, "exploratory"), signed="",
            card=store.releases.card(run_id, store.releases.policies()[0], {"title": "x"}),
        )  # fmt: skip
    assert store.releases.all() == []


def test_two_runs_are_compared(store, corpus, run_id):
    other = finished_run(store, corpus, TEXTS)
    examine(store, other, [finding("pipp", 0.5)])
    table = store.examinations.compare([run_id, other])
    assert {"name", "reference", f"{run_id} value", f"{other} value"} <= set(table.columns)
    assert len(table) >= 1


def test_text_without_a_proof_leaves_only_with_consent(store, corpus, run_id, tmp_path):
    """Nobody ends what can be proven about these people by pressing one button."""
    assert store.releases.makes_unbounded(run_id)
    with pytest.raises(RefusedError, match="cannot be undone"):
        store.releases.make(run_id, "exploratory", out=tmp_path / "out")
    assert store.releases.all() == []
    assert not (tmp_path / "out").exists()
    assert not store.ledger.of(corpus.id).unbounded
    store.releases.make(run_id, "exploratory", accept_unbounded=True)
    assert store.ledger.of(corpus.id).unbounded
    assert json.loads(store.audit.lines(limit=1).iloc[0]["detail"])["accepted_unbounded"] is True
    assert not store.releases.makes_unbounded(run_id)  # nothing more to lose
    store.releases.make(run_id, "exploratory")
    assert json.loads(store.audit.lines(limit=1).iloc[0]["detail"])["accepted_unbounded"] is False
    assert len(store.releases.all()) == 2


def test_an_original_is_found_at_the_gate_and_again_while_writing(store, corpus):
    frame = store.corpora.frame(corpus.id)
    original = str(frame["text"].iloc[0])
    texts = [*TEXTS[:3], f"  {original.upper()} "]
    made = finished_run(store, corpus, texts)
    policy = next(p for p in store.releases.policies() if p.id == "exploratory")
    found = [finding(r.finding, 0.0, reference=r.reference) for r in policy.rules]
    examine(store, made, found, tables={"originals": pd.DataFrame({"record_id": ["s-000004"]})})
    store.runs.approve_all_pending(made)
    verdict = store.releases.gate(made, "exploratory")
    assert [rule.rule for rule in verdict.open_rules()] == ["originals"]
    examine(store, made, found)  # an examination that did not see it
    assert store.releases.gate(made, "exploratory").passed
    with pytest.raises(RefusedError, match=r"1 approved record.*equal"):
        store.releases.make(made, "exploratory", accept_unbounded=True)
    assert store.releases.all() == []
    store.runs.approve(made, ["s-000004"], "rejected")
    assert store.releases.make(made, "exploratory", accept_unbounded=True).records == 3


def test_the_same_text_of_another_run_that_was_examined_was_looked_at(store, corpus, run_id):
    """A method that draws no noise writes the same again from the same seed."""
    others = [f"Another letter {i}." for i in range(8)]
    twin, other = finished_run(store, corpus, TEXTS), finished_run(store, corpus, [*TEXTS[:3], *others[3:]])
    unmeasured = {}
    for run in (twin, other):
        store.runs.approve_all_pending(run)
        verdict = store.releases.gate(run, "proof")
        unmeasured[run] = next(rule.passed for rule in verdict.rules if rule.rule == "unmeasured")
    assert unmeasured == {twin: False, other: True}
    current = next(rule for rule in store.releases.gate(twin, "exploratory").rules if rule.rule == "current")
    assert current.passed is not True  # an examination of the other run is none of this one


def unmeasured(store, run_id):
    """Return whether the policy for whole outputs finds that nothing private had a say."""
    return next(rule.passed for rule in store.releases.gate(run_id, "proof").rules if rule.rule == "unmeasured")


@pytest.mark.parametrize("earlier", [False, True])
@pytest.mark.parametrize("gone", ["run", "corpus", "nothing"])
def test_what_was_examined_is_known_after_it_was_deleted(store, corpus, run_id, gone, earlier):
    here = corpus
    if earlier:  # that edition kept no digests with its examinations
        with store.session.db.write() as connection:
            connection.execute(seen_outputs.delete())
    if gone == "run":
        store.runs.delete(run_id)
    elif gone == "corpus":
        store.corpora.delete(corpus.id)
        here = store.corpora.import_table(made_up(), MAPPING, name="Letters again")
    same, larger = (finished_run(store, here, texts) for texts in (TEXTS, [*TEXTS, *map(str, range(90))]))
    others = finished_run(store, here, [*TEXTS[:3], *map(str, range(5))])
    assert (unmeasured(store, same), unmeasured(store, larger), unmeasured(store, others)) == (False, False, True)
    assert "may be deleted" in " ".join(rule.sentence for rule in store.releases.gate(same, "proof").rules)
    with store.session.db.read() as connection:
        kept = list(connection.execute(seen_outputs.select()))
    assert len(kept) == (0 if earlier and gone == "nothing" else len(TEXTS))
    assert not any("letter" in row.digest or len(row.digest) != 32 for row in kept)


def test_a_run_that_nobody_examined_leaves_nothing_when_it_is_deleted(store, corpus):
    store.runs.delete(finished_run(store, corpus, TEXTS))
    assert unmeasured(store, finished_run(store, corpus, TEXTS))


def proven(store, corpus, texts, seed=3, method="public", **settings):
    """Add a run that carries a proof at epsilon 0, every record approved."""
    claim = Guarantee("dp", "Nothing private is read.", "the run's complete output", 0.0, 0.0, "record", "zero-out")
    other = {"guarantee": claim.as_dict(), "method": method, "parameters": {}, "needs_spans": False, "seed": seed}
    other |= settings
    made = finished_run(store, corpus, texts, settings=other)
    store.runs.approve_all_pending(made)
    return made


@pytest.mark.parametrize("which", ["itself", "a twin"])
def test_an_examination_while_the_release_is_written_is_noticed(store, corpus, monkeypatch, which):
    import engine.release

    made, twin = proven(store, corpus, TEXTS), finished_run(store, corpus, TEXTS)
    write = engine.release.write_bundle

    def slowly(*arguments, **options):
        examine(store, made if which == "itself" else twin, [])
        return write(*arguments, **options)

    monkeypatch.setattr(engine.release, "write_bundle", slowly)
    with pytest.raises(RefusedError, match="examined while the release was written"):
        store.releases.make(made, "proof", signed_off_by="Grace")
    assert store.releases.all() == []
    assert list((store.folder.path / "releases").iterdir()) == []
    monkeypatch.undo()
    other = proven(store, corpus, [f"An output {i} of its own." for i in range(8)], seed=4)
    assert store.releases.make(other, "proof", signed_off_by="Grace").records == 8


@pytest.mark.parametrize("gone", [False, True])
def test_the_same_seed_with_another_setting_is_the_same_look(store, corpus, gone):
    """A word more a text, and no text is equal: best of many seeds, made again."""
    best = proven(store, corpus, TEXTS, seed=5)
    examine(store, best, [])
    if gone:
        store.runs.delete(best)
    longer = [f"{text} Also" for text in TEXTS]
    assert not unmeasured(store, proven(store, corpus, longer, seed=5))
    assert unmeasured(store, proven(store, corpus, longer, seed=6))
    refused = proven(store, corpus, longer, seed=5)
    with pytest.raises(RefusedError, match="Nothing private had a say"):
        store.releases.make(refused, "proof", signed_off_by="Grace")


@pytest.mark.parametrize("first", ["public", "filter:public"])
def test_the_filter_around_a_method_makes_no_other_look_of_it(store, corpus, first):
    """It puts placeholders into nearly every text, so none is equal to one that was examined."""
    best = proven(store, corpus, TEXTS, seed=5, method=first)
    examine(store, best, [])
    other = "public" if first == "filter:public" else "filter:public"
    masked = [f"{text} [NAME]" for text in TEXTS]
    assert not unmeasured(store, proven(store, corpus, masked, seed=5, method=other))
    assert unmeasured(store, proven(store, corpus, masked, seed=6, method=other))


@pytest.mark.parametrize("method", ["public", "filter:public"])
def test_a_deletion_keeps_of_an_examined_run_what_its_line_tells_of(store, corpus, method):
    """An earlier edition kept one seed of it; a second, kept when it goes, would be a row that no line tells of."""
    best = proven(store, corpus, TEXTS, seed=5, method=method)
    examine(store, best, [])

    def kept():
        with store.session.db.read() as connection:
            return sorted(
                connection.execute(select(seen_outputs.c.digest).where(seen_outputs.c.run_id == best)).scalars()
            )

    before = kept()
    assert sum(one.startswith("seed ") for one in before) == 1
    store.runs.delete(best)
    assert kept() == before
    assert check_logs(store.path).broken == ()


@pytest.mark.parametrize("how", ["restored", "copied"])
def test_what_was_examined_in_a_time_that_was_lost_may_be_this_run(store, corpus, tmp_path, how):
    """Many runs, a backup, examine them all, restore, release the best."""
    best = proven(store, corpus, TEXTS)
    backup = store.disk.backup(tmp_path / "b.zip")
    examine(store, best, [])
    if how == "restored":
        folder = restore(backup, tmp_path / "again")
    else:
        folder = tmp_path / "again"
        shutil.copytree(restore(backup, tmp_path / "between"), folder)
    again = Store(folder, actor="ben")
    assert not unmeasured(again, best)
    (rule,) = (rule for rule in again.releases.gate(best, "proof").rules if rule.rule == "unmeasured")
    assert "nobody can tell" in rule.sentence
    with pytest.raises(RefusedError, match="Nothing private had a say"):
        again.releases.make(best, "proof", signed_off_by="Grace")
    later = proven(again, corpus, [f"A later output {i}." for i in range(8)], seed=9)
    assert again.releases.make(later, "proof", signed_off_by="Grace").records == 8
    again.close()


WORDS = {"title": "Letters", "purpose": "Trying out a search.", "recipient": "The archive", "review": "2999-01-31"}


def test_the_words_of_a_release_are_kept_and_stand_on_the_card(store, run_id):
    made = store.releases.make(run_id, "exploratory", accept_unbounded=True, **WORDS)
    assert store.releases.get(made.id) == made
    assert {name: made.words[name] for name in WORDS} == WORDS
    for name in ("DATA_CARD.md", "README.md", "REPORT.html", "card.json"):
        text = store.releases.file(made.id, name).decode()
        assert all(said in text for said in WORDS.values()), name


@pytest.mark.parametrize("day", ["tomorrow", "2001-01-01", "31.12.2999"])
def test_a_day_of_review_is_a_day_to_come(store, run_id, day):
    with pytest.raises(UserError, match="review"):
        store.releases.make(run_id, "exploratory", accept_unbounded=True, review=day)
    assert store.releases.all() == []


def test_private_words_outside_the_records_stop_a_release(store, corpus, run_id):
    """Under the policy that sets no limit for the records, too; eight words may agree, nine may not."""
    text = str(store.corpora.frame(corpus.id, "train", ["text", "split"])["text"].iloc[0]).split()
    for field in ("title", "source", "purpose", "recipient", "licence", "contact"):
        with pytest.raises(RefusedError, match="The data card repeats") as refused:
            store.releases.make(run_id, "exploratory", accept_unbounded=True, **{field: " ".join(text[:9])})
        assert CANARY not in str(refused.value)
    assert store.releases.all() == []
    assert store.releases.make(run_id, "exploratory", accept_unbounded=True, purpose=" ".join(text[1:8]))


def test_an_exact_number_of_the_original_stops_a_release(store, corpus, run_id):
    records = store.corpora.statistics(corpus.id).records
    assert records == 40
    for said in (f"Made of {records} letters", f"from {records}, as of May"):
        with pytest.raises(RefusedError, match="counted or measured"):
            store.releases.make(run_id, "exploratory", accept_unbounded=True, source=said)
    assert store.releases.make(run_id, "exploratory", accept_unbounded=True, source="Made of 41 or so letters")


def test_a_measured_value_stops_a_release(store, run_id):
    kept = finding("mauve", 0.4, "utility", at_fewer_texts={"50": [0.7316, None, 0.9127]})
    examine(store, run_id, [finding("pipp", 0.8884), finding("verbatim_8gram", 0.0), kept])
    for said in ("88.84 % of them", "a share of 0.888", "0.732 at fifty texts", "up to 91.27 % there"):
        with pytest.raises(RefusedError, match="counted or measured"):
            store.releases.make(run_id, "exploratory", accept_unbounded=True, purpose=said)


def test_one_zip_holds_every_file_and_is_checked_again(store, run_id, tmp_path):
    made = store.releases.make(run_id, "exploratory", accept_unbounded=True)
    (tmp_path / "b.zip").write_bytes(store.releases.archive(made.id))
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        assert set(archive.namelist()) == set(made.files)
    assert verify(tmp_path / "b.zip", manifest_sha256=made.manifest_sha256)["ok"]
    (store.folder.release(made.id) / "ledger.json").write_text("{}")
    with pytest.raises(RefusedError, match="changed after its release"):
        store.releases.archive(made.id)
    with pytest.raises(NotFoundError):
        store.releases.archive("rel-none")


def test_a_withdrawn_release_is_known_to_whoever_checks_it(store, run_id, tmp_path):
    make_key(tmp_path / "key", store.path)
    given = {"out": tmp_path / "b", "sign_key": tmp_path / "key"}
    made = store.releases.make(run_id, "exploratory", accept_unbounded=True, **given)
    assert verify(tmp_path / "b", key=made.signed_by)["ok"]
    with pytest.raises(UserError, match="reason"):
        store.releases.revoke(made.id, "  ")
    gone = store.releases.revoke(made.id, "A name\nwas found.")
    assert (gone.reason, bool(gone.revoked)) == ("A name was found.", True)
    assert store.releases.all() == [gone]
    with pytest.raises(UserError, match="before"):
        store.releases.revoke(made.id, "Again.")
    with pytest.raises(RefusedError, match="withdrawn"):
        store.releases.archive(made.id)
    (tmp_path / "revocations.json").write_text(store.releases.revocation_list(tmp_path / "key"))
    answer = verify(tmp_path / "b", key=made.signed_by)
    assert answer["revoked"]
    assert [problem[-17:] for problem in answer["problems"]] == ["A name was found."]
    assert store.audit.lines(limit=1).iloc[0]["action"] == "release withdrawn"
    with pytest.raises((IntegrityError, StorageError), match="append-only"), store.session.db.write() as connection:
        connection.execute(revocations.delete())


def test_no_file_of_a_withdrawn_release_is_handed_out(store, run_id):
    made = store.releases.make(run_id, "exploratory", accept_unbounded=True)
    later = store.releases.file  # a button that was drawn before the withdrawal
    store.releases.revoke(made.id, "A name was found.")
    for name in made.files:
        with pytest.raises(RefusedError, match="withdrawn on"):
            later(made.id, name)


def test_private_words_and_numbers_in_the_reason_of_a_withdrawal_are_refused(store, corpus, run_id):
    made = store.releases.make(run_id, "exploratory", accept_unbounded=True)
    text = store.corpora.frame(corpus.id, None, ["text"])["text"].iloc[5]
    with pytest.raises(RefusedError, match="consecutive words of a private record") as refused:
        store.releases.revoke(made.id, f"Withdrawn because of this: {text}")
    assert text.split()[0] not in str(refused.value)
    counts = store.corpora.statistics(corpus.id)
    private = next(n for n in (counts.records, *counts.characters.values()) if n >= 20 and float(n).is_integer())
    with pytest.raises(RefusedError, match="counted or measured"):
        store.releases.revoke(made.id, f"It told of {int(private)} letters.")
    assert not store.releases.get(made.id).revoked
    assert store.releases.revoke(made.id, "A name was found.").revoked


def test_a_key_inside_the_workspace_or_open_to_others_signs_nothing(store, run_id, tmp_path):
    with pytest.raises(RefusedError, match="outside the workspace"):
        make_key(store.path / "key", store.path)
    make_key(tmp_path / "key", store.path)
    with pytest.raises(UserError, match="exists already"):
        make_key(tmp_path / "key", store.path)
    (tmp_path / "key").chmod(0o644)
    with pytest.raises(RefusedError, match="others may read"):
        store.releases.make(run_id, "exploratory", accept_unbounded=True, sign_key=tmp_path / "key")
    (tmp_path / "no").write_text("no key")
    (tmp_path / "no").chmod(0o600)
    for name in ("no", "nowhere"):
        with pytest.raises(UserError, match="key:"):
            store.releases.make(run_id, "exploratory", accept_unbounded=True, sign_key=tmp_path / name)
    assert store.releases.all() == []


def test_the_ledger_of_a_release_names_what_the_run_drew_and_nothing_else(store, corpus):
    run = proven(store, corpus, TEXTS)
    made = store.releases.make(run, "proof", signed_off_by="Grace")
    said = json.loads(store.releases.file(made.id, "ledger.json"))
    assert "draws nothing" in said["sentence"]
    assert all(set(line) <= {"kind", "epsilon", "delta", "events", "event"} for line in said["lines"])
    answer = json.loads(store.releases.file(made.id, "policy.json"))
    assert answer["answer"] == "met"
    assert all("value" not in rule and "sentence" not in rule for rule in answer["rules"])


def test_the_name_of_a_second_person_stands_in_the_log_and_in_the_bundle(store, corpus, tmp_path):
    """As typed without a sign-in, on one line; the acting person's own name in other letters is nobody else's."""
    run = proven(store, corpus, TEXTS)
    with pytest.raises(RefusedError, match="second person"):
        store.releases.make(run, "proof", signed_off_by=f"  {store.session.actor.upper()}\u200b ")
    with pytest.raises(UserError, match="at most 80"):
        store.releases.make(run, "proof", signed_off_by="M" * 81)
    made = store.releases.make(run, "proof", signed_off_by=" Mary\u202e \n Second ", out=tmp_path / "b")
    assert store.releases.get(made.id) == made
    assert (made.second_person, made.second_signed_in) == ("Mary Second", False)
    (line,) = (one for one in store.audit.lines(limit=9).to_dict("records") if one["action"] == "records released")
    said = json.loads(line["detail"])
    assert (said["second_person"], said["second_signed_in"]) == ("Mary Second", False)
    known = {"name": "Mary Second", "how": "name typed, no sign-in"}
    assert [json.loads(store.releases.file(made.id, name))["second_person"] for name in ("manifest.json", "card.json")
            ] == [known, known]  # fmt: skip
    for name in ("DATA_CARD.md", "README.md", "REPORT.html"):
        assert "Mary Second (name typed, no sign-in)" in store.releases.file(made.id, name).decode(), name
    answer = verify(tmp_path / "b")
    assert (answer["ok"], answer["second_person"]) == (True, "Mary Second (name typed, no sign-in)")
    assert check_logs(store.path).broken == ()


def test_a_policy_that_asks_for_no_second_person_names_none(store, run_id):
    made = store.releases.make(run_id, "exploratory", accept_unbounded=True, signed_off_by="Mary Second")
    assert made.second_person == ""
    assert all(b"Mary Second" not in store.releases.file(made.id, name) for name in made.files)
    assert "second_person" not in json.loads(store.releases.file(made.id, "manifest.json"))


def test_a_release_of_an_edition_that_kept_no_second_name_still_opens(store, corpus, monkeypatch):
    monkeypatch.setattr("engine.store.runs.releases.DETAIL", ("sha256", "manifest_sha256", "words", "signed_by"))
    made = store.releases.make(proven(store, corpus, TEXTS), "proof", signed_off_by="Grace")
    assert (store.releases.get(made.id).second_person, store.releases.get(made.id).second_signed_in) == ("", False)
    assert store.releases.archive(made.id)
