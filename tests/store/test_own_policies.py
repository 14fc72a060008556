"""A workspace's own policies: strict files, absolute rules that stay, versions, and a gate that notices changes."""

from __future__ import annotations

import json

import pytest

from engine.errors import NotFoundError, RefusedError, UserError
from engine.release.policy.policy import PRESETS, policies
from engine.release.policy.policy_file import read_own, read_policy
from engine.store.store import Store
from tests.store.test_releases import run_id  # noqa: F401

OWN = """\
id: ward
title: Ward team
sentence: For the team of one ward. Names must be known to be rare.
rules:
  - id: names-measured
    title: Names were counted
    finding: pipp
    reference: train
    comparator: measured
    sentence: How many records hold a name must be known.
    remedy: Examine the run on the Privacy page.
requirements:
  minimum_reviewed_share: 0.0
  minimum_approved: 1
  guarantee_kinds: [none, heuristic, selection-only, dp]
  longest_copied_words: null
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("title: Ward team\n", "title: Ward team\nallow_originals: true\n", "line 3: allow_originals: there is no"),
        ("    comparator: measured\n", "    comparator: measured\n    waive: all\n", "line 10: rules.0.waive: there"),
        ("    comparator: measured\n", "    comparator: mesured\n", "line 9: rules.0.comparator"),
        ("  minimum_approved: 1\n", "  minimum_approved: 0\n", "line 14: requirements.minimum_approved"),
        ("  minimum_approved: 1\n", "", "line 12: requirements.minimum_approved"),
        ("id: ward\n", "id: ward\nid: ward\n", "line 2: 'id' stands here twice"),
        ("id: ward\n", "id: research\n", "a preset is called so"),
        ("title: Ward team\n", "title: public RELEASE\n", "a preset is called so"),
        ("title: Ward team\n", "title: &a Ward team\n", "anchors"),
        ("finding: pipp", "finding: no_such_finding", "no finding is called"),
        ("    reference: train\n", "    reference: train\n    nothing_to_leak: [no reason]\n", "only the reasons"),
        ("title: Ward team\n", "title: [Ward\n", "line"),
        ("title: Ward team\n", "title: !!python/object/apply:os.system [id]\n", "not valid YAML"),
        ("title: Ward team\n", "title: " + "x" * 70_000 + "\n", "KiB"),
        ("id: ward\n", "- id: ward\n", "not valid YAML"),
    ],
)  # fmt: skip
def test_a_file_that_is_not_exactly_a_policy_is_refused_with_its_line(old, new, said):
    assert old in OWN
    with pytest.raises(UserError) as refused:
        read_own(OWN.replace(old, new, 1), "ward.yaml")
    assert said in str(refused.value)


@pytest.mark.parametrize("text", ["", "just words", "- 1\n- 2\n", "42", "[" * 3000, "a: 2026-99-99\n", "\x00"])
def test_what_is_no_policy_at_all_is_refused(text):
    with pytest.raises(UserError):
        read_own(text)


def test_presets_are_read_by_the_strict_reader_too():
    for policy in policies():
        assert read_policy((PRESETS / f"{policy.id}.yaml").read_text("utf-8")) == policy


def test_an_own_policy_is_listed_kept_over_a_restart_audited_and_removed(store):
    policy = store.releases.add_policy(OWN)
    assert [one.id for one in store.releases.policies()][-1] == "ward"
    again = Store(store.path)
    assert again.releases.policies()[-1] == policy
    line = store.audit.lines(limit=1).iloc[0]
    detail = json.loads(line["detail"])
    assert (line["action"], detail["digest"], detail["definition"]["id"]) == ("own policy added", policy.digest, "ward")
    changed = store.releases.add_policy(OWN.replace("minimum_approved: 1", "minimum_approved: 2"))
    assert changed.digest != policy.digest
    assert store.audit.lines(limit=1).iloc[0]["action"] == "own policy changed"
    with pytest.raises(UserError, match="another own policy"):
        store.releases.add_policy(OWN.replace("id: ward", "id: other"))
    with pytest.raises(NotFoundError, match="presets cannot"):
        store.releases.remove_policy("public")
    store.releases.remove_policy("ward")
    assert [one.id for one in store.releases.policies()] == [one.id for one in policies()]
    with pytest.raises(NotFoundError):
        store.releases.gate("r-unknown", "ward")
    with store.session.db.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM own_policies").scalar() == 3


def test_no_own_policy_leaves_out_the_absolute_rules(store, run_id):  # noqa: F811
    store.releases.add_policy(OWN)
    lines = {line.rule for line in store.releases.gate(run_id, "ward").rules}
    assert {"run-complete", "current", "approved", "originals"} <= lines


def test_a_release_under_an_own_policy_carries_its_rules_and_digest(store, run_id):  # noqa: F811
    policy = store.releases.add_policy(OWN)
    made = store.releases.make(run_id, "ward", accept_unbounded=True, policy_digest=policy.digest)
    answer = json.loads(store.releases.file(made.id, "policy.json"))
    assert (answer["policy"], answer["digest"]) == ("ward", policy.digest)
    assert answer["definition"]["rules"][0]["finding"] == "pipp"
    assert json.loads(store.audit.lines(limit=1).iloc[0]["detail"])["policy_digest"] == policy.digest
    store.releases.remove_policy("ward")
    assert store.releases.revoke(made.id, "A mistake.").revoked


def test_a_policy_that_was_changed_since_it_was_shown_lets_nothing_leave(store, run_id, monkeypatch):  # noqa: F811
    shown = store.releases.add_policy(OWN)
    store.releases.add_policy(OWN.replace("Names must be known to be rare.", "Names are counted."))
    with pytest.raises(RefusedError, match="changed since it was shown"):
        store.releases.make(run_id, "ward", accept_unbounded=True, policy_digest=shown.digest)
    import engine.release

    write = engine.release.write_bundle

    def meanwhile(*args, **named):
        made = write(*args, **named)
        Store(store.path).releases.add_policy(OWN.replace("minimum_approved: 1", "minimum_approved: 9"))
        return made

    monkeypatch.setattr(engine.release, "write_bundle", meanwhile)
    with pytest.raises(RefusedError, match="changed while the release was written"):
        store.releases.make(run_id, "ward", accept_unbounded=True)
    assert store.releases.all() == []


def test_private_words_and_numbers_in_an_own_policy_stop_the_release(store, corpus, run_id):  # noqa: F811
    text = store.corpora.frame(corpus.id, None, ["text"])["text"].iloc[5]
    words = " ".join(text.replace(":", " ").replace("#", " ").split()[:14])
    store.releases.add_policy(OWN.replace("For the team of one ward.", f"Not for {words} now."))
    with pytest.raises(RefusedError, match="consecutive words"):
        store.releases.make(run_id, "ward", accept_unbounded=True)
    private = store.corpora.statistics(corpus.id).records
    store.releases.add_policy(OWN.replace("For the team of one ward.", f"For the {private} letters of a ward."))
    with pytest.raises(RefusedError, match="The policy holds a number"):
        store.releases.make(run_id, "ward", accept_unbounded=True)
