"""The privacy page: states, five sentences, leaks by example, the private side behind a reason."""

from __future__ import annotations

import json
import re
import time
from types import SimpleNamespace
from typing import get_args

import pandas as pd
import pytest

from engine.examine.findings.findings import Finding
from engine.examine.findings.sentence import Level, Sentence
from engine.examine.findings.verdict import privacy_verdict
from engine.release.policy.policy import get_policy
from engine.release.policy.remedies import Claim, Making, remedy
from pages._ui.examined import run as examined_run
from pages._ui.privacy import kinds as privacy_kinds
from pages._ui.privacy import leaks as privacy_leaks
from pages._ui.privacy import verdict as verdict_box
from pages._ui.privacy.people import sentence as people_sentence
from pages._ui.privacy.verdict import LEVELS, NONE_SEEN, answer, badge, listed, not_shown, why_not
from tests.pages.small import drawn_table, verdict_lines
from tests.store.span_tables import add_span


def words(app, *kinds: str) -> str:
    return "\n".join(str(e.value) for kind in kinds for e in getattr(app, kind))


def everything(app) -> str:
    return words(app, "title", "subheader", "markdown", "caption", "info", "warning", "error", "success")


def finding(name: str, reference: str, value: float, low: float | None, high: float | None) -> Finding:
    return Finding(name, value, low, high, 100, reference, name, "lower is safer", "privacy")  # type: ignore[arg-type]


def test_empty(empty, visit):
    app = visit("privacy")
    assert app.button(key="privacy.load").label == "Load a file"


def test_not_examined_yet(seeded, visit, add_run):
    workspace = seeded.open()
    run = add_run(workspace, seeded.corpus, [{"text": "Made up.", "label": None, "lineage": None}])
    app = visit("privacy", **{"_ui.run": run})
    assert "Not examined yet" in words(app, "subheader")
    app.button(key=f"privacy.examine.{run}").click().run()
    (job,) = [job for job in workspace.jobs.all() if job.kind == "examine"]
    assert job.run_id == run
    assert app.get("progress")


def test_full(seeded, visit):
    app = visit("privacy", **{"_ui.run": seeded.run})
    shown = words(app.container(key="privacy.verdict"), "markdown")
    lines = verdict_lines(app.container(key="privacy.verdict"))
    for title in ("Real identifiers", "Copied text", "Membership", "Closeness", "Formal claim"):
        assert sum(f"· {title}:" in line for line in lines) == 1
    # details of people are named where the split makes them stand out, identifiers of one person where any came out
    assert len(lines) in (5, 6, 7)
    opened = [one.value for one in app.container(key="privacy.verdict").caption]
    assert "Against all training records: 10.0%." in opened  # 12 of 120 were copied; each number has its line
    assert "nothing is proven about this method" in shown
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.view": "All numbers"})
    table = {
        row["Finding"]: row
        for row in drawn_table(words(app.container(key=f"privacy.triples.{seeded.run}"), "markdown"))
    }
    assert table["Records with an eight-word copy"]["Training part"].startswith("10.0% (")
    assert table["Closeness to the nearest record"]["Training part"] == "not estimable"
    assert {"Holdout", "Unused real records", "More than chance", "n"} <= set(table["Records with an eight-word copy"])
    assert "Set aside at import and used by nobody" in words(app, "caption")


def test_examination_running_keeps_the_old_findings(seeded, visit, add_job):
    add_job(seeded.open(), "examine", "running", corpus_id=seeded.corpus, run_id=seeded.run)
    app = visit("privacy", **{"_ui.run": seeded.run})
    assert app.get("progress")
    assert "the examination before" in words(app, "caption")
    assert app.container(key="privacy.verdict").markdown


def test_examination_failed(seeded, visit, add_job):
    add_job(seeded.open(), "examine", "failed", corpus_id=seeded.corpus, run_id=seeded.run, error="Memory ran out.")
    app = visit("privacy", **{"_ui.run": seeded.run})
    assert "Memory ran out" in words(app, "error")


def test_only_utility_was_examined(seeded, visit, add_run, examine):
    workspace = seeded.open()
    made = [{"text": f"She walked to place {i}.", "label": None, "lineage": None} for i in range(6)]
    run = add_run(workspace, seeded.corpus, made)
    examine(workspace, run, groups=("utility",))
    app = visit("privacy", **{"_ui.run": run})
    assert "Only half examined" in words(app, "subheader")
    assert app.button(key=f"privacy.examine.{run}")


@pytest.mark.parametrize("uses", [False, True])
def test_stale(seeded, visit, uses):
    from engine.store.database.schema import runs

    workspace = seeded.open()
    with workspace.session.db.write() as connection:
        connection.execute(runs.update().where(runs.c.id == seeded.run).values(needs_spans=uses))
    record = str(workspace.corpora.records(seeded.corpus, split="train", limit=1)["record_id"].iloc[0])
    add_span(workspace, seeded.corpus, record, 0, 3, "PERSON")
    app = visit("privacy", **{"_ui.run": seeded.run})
    assert "Out of date" in words(app, "warning")
    assert ("Make the run again" in words(app, "warning")) is uses  # another examination would not help
    keys = [str(one.key) for one in app.button]
    assert (f"privacy.examine.{seeded.run}" in keys) is not uses
    assert (f"privacy.remake.{seeded.run}" in keys) is uses
    if uses:
        app.button(key=f"privacy.remake.{seeded.run}").click().run()
        assert app.title[0].value == "Runs"


@pytest.mark.parametrize("view", ["Leaks", "Proof and attacks", "All numbers"])
def test_views(seeded, visit, view):
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.view": view})
    if view == "Leaks":
        assert set(app.dataframe[1].value["Points at a person"]) <= {"directly", "with others"}
        assert "Closeness was not measured" in words(app, "caption")  # examined without an encoder
    elif view == "All numbers":
        attacks = drawn_table(words(app.container(key=f"privacy.attacks.triples.{seeded.run}"), "markdown"))
        assert "Words alone (blind)" in attacks[0]
        assert not any("at 1%" in row["Finding"] for row in attacks)
        table = app.dataframe[0].value
        assert {"Value", "Low", "High", "n", "Held against", "Good is"} <= set(table.columns)
        assert len(table) == sum(f.group == "privacy" for f in seeded.open().examinations.findings(seeded.run))
        assert "Keep in mind: " in words(app, "markdown")
    else:
        assert app.radio(key="privacy.chart")


def test_private_text_stays_hidden_without_a_reason(seeded, visit):
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.view": "Leaks"})
    workspace = seeded.open()
    (button,) = [b for b in app.button if str(b.key).startswith("privacy.reveal.do.")]
    before = workspace.audit.verify()["lines"]
    app.text_input(key="privacy.reason").set_value("short").run()
    app.button(key=button.key).click().run()
    assert "at least 10 characters" in words(app, "error")
    assert workspace.audit.verify()["lines"] == before
    assert not [b for b in app.button if b.key == "privacy.hide"]


def test_looking_is_written_down_first_and_forgotten_with_the_next_record(seeded, visit):
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.view": "Leaks"})
    workspace = seeded.open()
    (button,) = [b for b in app.button if str(b.key).startswith("privacy.reveal.do.")]
    record = button.key.removeprefix("privacy.reveal.do.")
    app.text_input(key="privacy.reason").set_value("is this a stock phrase of letters?").run()
    app.button(key=button.key).click().run()
    line = workspace.audit.lines(limit=1).iloc[0]
    assert (line["action"], line["subject"]) == ("private text revealed", seeded.run)
    detail = json.loads(line["detail"])
    assert detail["reason"] == "is this a stock phrase of letters?"
    assert detail["synthetic"] == record
    assert app.button(key="privacy.hide")
    private = workspace.corpora.frame(seeded.corpus, None, ["record_id", "text"])
    assert not any(str(one) in line["detail"] for one in private["record_id"]), "an id of the file leaves with the log"
    source = private["text"].iloc[detail["position"]]
    assert source[:40] not in everything(app)  # text only through the component
    leaks = privacy_leaks.ranked(workspace.examinations.table(seeded.run, "leaks"))
    other = next(r for r in leaks["record_id"] if r != record)
    app.session_state[f"privacy.leak.{seeded.run}"] = other
    app.run()
    assert not [b for b in app.button if b.key == "privacy.hide"]


def test_the_private_side_hides_itself(seeded, visit):
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.view": "Leaks"})
    (button,) = [b for b in app.button if str(b.key).startswith("privacy.reveal.do.")]
    app.text_input(key="privacy.reason").set_value("is this a stock phrase of letters?").run()
    app.button(key=button.key).click().run()
    assert any("Hides itself in" in str(c.value) for c in app.caption)
    assert app.session_state["privacy.revealed"][3] <= time.time() + privacy_leaks.SECONDS
    app.session_state["privacy.revealed"] = (*app.session_state["privacy.revealed"][:3], time.time() - 1)
    app.run()
    assert "privacy.revealed" not in app.session_state
    assert not [b for b in app.button if b.key == "privacy.hide"]


def test_rejecting_from_the_leaks(seeded, visit):
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.view": "Leaks"})
    (button,) = [b for b in app.button if str(b.key).startswith("privacy.reject.")]
    app.button(key=button.key).click().run()
    assert seeded.open().runs.approval_counts(seeded.run)["rejected"] == 1


def leak_rows() -> pd.DataFrame:
    columns = ["record_id", "source_record_id", "kind", "start", "end", "source_start", "source_end", "entity", "label",
               "identifier_type", "reference", "words"]  # fmt: skip
    rows = [
        ("s-1", "a", "verbatim", 0, 30, 0, 30, None, None, None, "train", 8),
        ("s-1", "a", "entity", 4, 7, 4, 7, 0, "PERSON", "direct", "train", None),
        ("s-1", "a", "entity", 20, 23, 20, 23, 0, "PERSON", "direct", "train", None),  # the same entity again
        ("s-2", "b", "entity", 0, 4, 5, 9, 1, "DATE", "quasi", "train", None),
        ("s-3", "c", "entity", 0, 4, 5, 9, 2, "DATE", "quasi", "holdout", None),  # chance, not a leak
    ]
    return pd.DataFrame(rows, columns=columns)


def test_records_are_ranked_by_what_they_hold_of_the_training_part():
    table = privacy_leaks.ranked(leak_rows())
    assert table.to_dict("records") == [
        {"record_id": "s-1", "longest": 8, "direct": 1, "other": 0},
        {"record_id": "s-2", "longest": 0, "direct": 0, "other": 1},
    ]
    assert privacy_leaks.ranked(leak_rows().iloc[:0]).empty


def test_names_lie_on_top_of_copied_words():
    text = "The Ann walked, then her Bob; and she sat"
    marks = privacy_leaks.marks(text, leak_rows().iloc[:2])
    assert [(text[m.start : m.end], m.label) for m in sorted(marks, key=lambda m: m.start)] == [
        ("The ", "copied words"),
        ("Ann", "person name"),
        (" walked, then her Bob; ", "copied"),
    ]


@pytest.mark.parametrize(
    ("taken", "left"),
    [
        ([], [(0, 10)]),
        ([(0, 10)], []),
        ([(2, 4)], [(0, 2), (4, 10)]),
        ([(2, 6), (4, 8)], [(0, 2), (8, 10)]),  # overlapping names
        ([(-5, 2), (9, 20)], [(2, 9)]),
        ([(20, 30)], [(0, 10)]),
    ],
)
def test_what_is_left_of_a_passage(taken, left):
    assert privacy_leaks.without((0, 10), taken) == left


@pytest.mark.parametrize(
    ("train", "holdout", "level"),
    [
        ((0.75, 0.67, 0.82), (0.18, 0.12, 0.26), "leak"),  # names stand out though all identifiers together do not
        ((0.20, 0.15, 0.27), (0.18, 0.12, 0.26), "unsure"),  # intervals overlap: the sentence stays the engine's
    ],
)
def test_direct_identifiers_that_stand_out_are_said_first(train, holdout, level):
    rows = [
        finding("pipp", "train", 0.75, 0.67, 0.82),
        finding("pipp", "holdout", 0.69, 0.6, 0.77),
        finding("pipp_excess", "holdout", 0.025, -0.03, 0.08),
        finding("pipp_direct", "train", *train),
        finding("pipp_direct", "holdout", *holdout),
    ]
    first, copies, member, closeness, claim = privacy_verdict(rows)
    assert first.level == level
    assert ("direct identifier" in first.text) is (level == "leak")
    assert (copies.level, member.level, closeness.level, claim.level) == ("unknown", "unknown", "unknown", "no proof")


def test_every_level_has_a_word():
    assert set(LEVELS) == set(get_args(Level))
    assert len({word for _, word, _ in LEVELS.values()}) == len(LEVELS)
    assert len({icon for icon, _, _ in LEVELS.values()}) == len(LEVELS)
    assert NONE_SEEN[0] not in {icon for icon, _, _ in LEVELS.values()}


def test_a_type_that_points_both_ways_has_a_row_each():
    table = pd.DataFrame(
        [
            ("PERSON", "direct", 4, 2, 1, "train"), ("PERSON", "quasi", 10, 1, 0, "train"),
            ("PERSON", "direct", 5, 1, 0, "holdout"), ("DATE", "quasi", 8, 4, 0, "train"),
        ],
        columns=["label", "identifier_type", "entities", "leaked", "rare_leaked", "reference"],
    )  # fmt: skip
    found = privacy_kinds.kinds(table)
    rows = found.rows
    assert [(row["Points at a person"], row["Share"]) for row in rows] == [
        ("directly", 0.5), ("with others", 0.5), ("with others", 0.1),
    ]  # fmt: skip
    assert rows[0]["Share, holdout"] == 0.2
    assert found.sentence.startswith("In the synthetic text stand: Pointing at a person directly: 2 of 4")
    assert "Together with others: 4 of 8" in found.sentence
    assert pd.isna(rows[1]["Share, holdout"])
    assert pd.isna(rows[2]["Share, holdout"])


@pytest.mark.parametrize(
    ("value", "ours", "said", "difference"),
    [
        (0.05, 0.30, "more often than of records nobody used (30.0% against 25.0%)", "5.0 pp"),
        (
            0.05,
            0.20,
            "more often than of records nobody used:",
            "5.0 pp",
        ),  # shares that say otherwise do not stand there
        (-0.05, 0.20, "less often than of records nobody used (20.0% against 25.0%)", "−5.0 pp"),
        (-0.02, 0.20, "about as often as of records nobody used (20.0% against 25.0%)", "−2.0 pp"),
    ],
)
def test_an_excess_below_zero_is_less(value, ours, said, difference):
    rows = [
        finding("pipp", "train", ours, 0.1, 0.4),
        finding("pipp", "holdout", 0.25, 0.1, 0.4),
        finding("pipp_excess", "holdout", value, -0.15, 0.15),
    ]
    first = privacy_verdict(rows)[0]
    assert said in first.text
    assert f"Difference: {difference} (95% interval −15.0 pp to 15.0 pp)." in first.more.split("\n")


@pytest.mark.parametrize(
    ("used", "equal", "said"),
    [
        (0.15, (0.0, -0.1, 0.3), True),
        (0.30, (0.0, -0.03, 0.05), True),
        (0.30, (0.0, -0.03, 0.25), False),  # not clearly within the limit at equal sizes either
        (0.30, (0.28, 0.2, 0.35), False),  # the value itself is over it
    ],
)
def test_a_rule_that_fails_by_its_interval_is_not_said_to_be_a_leak(used, equal, said):
    rule = SimpleNamespace(
        finding="pipp_direct", reference="train above holdout", threshold=0.2, value=0.377, passed=False, title="R",
        remedy="Set more aside.",
    )  # fmt: skip
    side = SimpleNamespace(
        findings=[
            finding("pipp_direct", "train", used, used - 0.05, used + 0.05),
            finding("pipp_direct", "holdout", 0.02, 0.0, 0.1),
            finding("pipp_direct_excess", "holdout", *equal),
        ]
    )
    corpus = SimpleNamespace(unit="source", units=123, holdout_units=19)
    found, numbers = not_shown(rule, side, corpus, SimpleNamespace(title="Internal"))  # type: ignore[arg-type]
    expected = "For more readers (Internal) this cannot be shown either way." if said else ""
    assert found == expected
    assert bool(said) == bool(numbers)
    assert "%" not in found
    assert " pp" not in found, "the numbers are in the fold"
    assert ("104 people used, beside 19 people set aside" in numbers) == bool(said)
    assert ("up to 37.7 pp; the limit is 20.0 pp." in numbers) == bool(said)
    assert ("Of equally many" in numbers) == (used == 0.30 and bool(said))


def test_privacy_and_release_name_the_same_way_out_of_a_shut_door(seeded):
    """The gate's own remedy is what Privacy says, for the run as it is kept in the workspace."""
    workspace = seeded.open()
    found = workspace.releases.audience(seeded.run)
    assert found.wider is not None
    side = SimpleNamespace(findings=workspace.examinations.findings(seeded.run), run=workspace.runs.get(seeded.run))
    corpus = workspace.corpora.get(side.run.corpus_id)
    reason = why_not(found, side, corpus, [])  # type: ignore[arg-type]
    gate = {line.rule: line.remedy for line in workspace.releases.gate(seeded.run, found.wider.id).rules}
    broken = [line for line in found.missing if line.passed is False and line.value is not None]
    first = next(iter(broken), found.missing[0])
    assert gate[first.rule] == first.remedy
    assert reason.help == f"What would help: {first.remedy}"


def test_people_beside_text_that_read_nothing_private_are_matched_by_chance():
    counts = pd.DataFrame({"attack": ["direct identifier"], "flagged": [4.0], "expected": [0.0]})
    units = pd.DataFrame({"unit": ["s:1", "s:2", "s:3", "s:4"]})
    said = people_sentence(counts, units, "person", untouched=True)
    assert "a direct identifier of theirs alone also occurs in the text" in said
    assert said.endswith("Every match is chance: no private record was read (ε = 0).")
    assert "by chance about" not in said
    assert "alone, chance gives about 0. " in people_sentence(counts, units, "person")


@pytest.mark.parametrize(
    ("expected", "others", "said"),
    [
        (5.4, 70, "alone, no more than chance gives (about 5). Attacks on single people need 99 records set aside; "
         "here 70."),
        (2.6, 120, "alone, chance gives about 3. Attacks on single people need 99 records set aside, and words that do "
         "not tell the two parts apart."),
    ],
)  # fmt: skip
def test_people_are_counted_beside_chance(expected, others, said):
    counts = pd.DataFrame(
        {
            "attack": ["ngram", "direct identifier"], "flagged": [float("nan"), 3.0],
            "expected": [float("nan"), expected], "others": [others, others],
        }
    )  # fmt: skip
    units = pd.DataFrame({"unit": ["s:1", "s:2", "s:3"]})
    assert people_sentence(counts, units, "person").endswith(said)


def rule(title: str, passed: bool | None, value: float | None, reference: str = "train"):
    return SimpleNamespace(
        finding="verbatim_8gram", reference=reference, threshold=0.05, value=value, passed=passed, title=title,
        sentence=f"{title} says why.", remedy=f"Mend {title}.",
    )  # fmt: skip


def reason(missing, said, *, stale: bool = False, examination_stale: bool = False, kind: str = "dp"):
    run = SimpleNamespace(stale=stale, examination_stale=examination_stale, guarantee=SimpleNamespace(kind=kind))
    side = SimpleNamespace(findings=[], run=run)
    found = SimpleNamespace(wider=SimpleNamespace(title="Internal"), missing=missing)
    return why_not(found, side, SimpleNamespace(), said)  # type: ignore[arg-type]


def test_the_reason_is_the_worst_finding_where_the_findings_are_out_of_date():
    unsure = Sentence("Identifiers: cannot be told.", "unsure", "pipp")
    leak = Sentence("Copied text: all of it, at length.", "leak", "verbatim_8gram", "", "Copied text: 100.0%.")
    missing = [rule("Nothing changed since the examination", False, None), rule("Copies", None, None)]
    said = reason(missing, [unsure, leak], stale=True).said
    assert said.startswith("The worst finding: Copied text: 100.0%.")
    assert "Nothing changed" not in said
    again, examined = reason(missing, [unsure], stale=True), reason(missing, [unsure], examination_stale=True)
    assert again.said.startswith("Not for any readers until it is made again and examined: ")
    assert examined.said.startswith("Not for any readers until it is examined again: ")


@pytest.mark.parametrize(
    ("stale", "examination_stale", "leaks", "said"),
    [
        (False, True, False, "Not known: examine it again."),
        (True, True, False, "Not known: the run has to be made again."),
        (False, True, True, "It may not leave."),
        (False, False, False, "It may not leave."),
    ],
)
def test_findings_out_of_date_that_show_no_leak_are_no_verdict(stale, examination_stale, leaks, said):
    side = SimpleNamespace(run=SimpleNamespace(stale=stale, examination_stale=examination_stale))
    assert answer(SimpleNamespace(policy=None), side, leaks=leaks)[1] == said  # type: ignore[arg-type]


def test_a_rule_that_a_number_breaks_is_the_reason_before_one_that_was_not_judged():
    missing = [rule("A", None, None), rule("B", False, 0.5), rule("C", None, None)]
    assert reason(missing, []) == (
        "Not for more readers (Internal): the rule “B” is not met. 2 more rules stand in the way.",
        "What would help: Mend B.",
        "B says why.",
        "",
    )
    assert "“A”" in reason([missing[0]], []).said
    assert reason([rule("D", False, 0.5, "train above holdout")], [])[1:3] == (
        "What would help: Mend D.",
        "D says why.",
    )


@pytest.mark.parametrize(
    ("kind", "level", "stays"), [("none", "leak", True), ("dp", "leak", False), ("none", "unsure", False)]
)
def test_what_mends_a_rule_is_not_said_to_end_the_leaks(kind, level, stays):
    said = [Sentence("Copied text: all of it.", level, "verbatim_8gram")]
    found = reason([rule("B", False, 0.5)], said, kind=kind)
    assert found.help == "What would help: Mend B."
    assert ("ends none of the leaks" in found.stays) == stays


@pytest.mark.parametrize("writes", ["keeps", "rewrites", "new"])
def test_where_another_method_is_what_would_help_it_is_not_said_to_end_no_leak(writes):
    limit = next(one for one in get_policy("internal").rules if one.finding == "pipp_direct")
    broken = rule("B", False, 0.5)
    broken.remedy = remedy(limit, [], Claim("none"), Making(writes=writes))
    found = reason([broken], [Sentence("Copied text: all of it.", "leak", "verbatim_8gram")], kind="none")
    assert "plan " in found.help.lower()
    assert not found.stays


@pytest.mark.parametrize(
    ("whole", "excess", "seen"),
    [
        (0.0, (0.0, -0.04, 0.04), False),
        (0.0, (0.02, -0.04, 0.10), False),
        (0.0, (0.03, -0.04, 0.10), True),  # more than negligible was seen
        (0.0, (0.0, -0.04, 0.11), True),  # too much cannot be excluded
        (0.0, (0.0, 0.0, 0.0), True),  # an interval that says nothing
        (0.10, (0.0, -0.04, 0.04), True),  # copies of what the cut does not hold
    ],
)
def test_none_seen_says_what_cannot_be_excluded(whole, excess, seen):
    rows = [
        finding("verbatim_8gram", "train", whole, 0.0, whole + 0.04),
        finding("verbatim_8gram", "holdout", 0.0, 0.0, 0.04),
        finding("verbatim_8gram_excess", "holdout", *excess),
    ]
    copies = privacy_verdict(rows)[1]
    assert copies.level == "unsure"
    assert badge(copies) == (LEVELS["unsure"] if seen else NONE_SEEN)
    limit = f"up to {100 * excess[2]:.1f} points more cannot be excluded"
    assert (limit in copies.text) is (limit in copies.brief) is (not seen)


@pytest.mark.parametrize(
    ("kind", "examined", "said"), [("dp", None, True), ("dp", "2026-01-01", False), ("heuristic", None, False)]
)
def test_what_an_examination_takes_from_a_run_with_a_proof_is_said_before_it(kind, examined, said):
    run = SimpleNamespace(id="r-1", guarantee=SimpleNamespace(kind=kind), examined_at=examined)
    workspace = SimpleNamespace(examinations=SimpleNamespace(in_part=lambda run_id: None))
    told = examined_run.closes(workspace, run)  # type: ignore[arg-type]
    assert ("no longer leave under “Proof alone”" in told) is said


def test_ways_that_a_sentence_numbers_stand_one_under_the_other():
    told = "What would help: 32 are too few. Two ways: (1) load the corpus again; (2) make the run again, unseen."
    assert listed(told).split("\n") == [
        "What would help: 32 are too few. Two ways:", "", "1. Load the corpus again.", "2. Make the run again, unseen.",
    ]  # fmt: skip
    assert listed("What would help: a smaller ε.") == "What would help: a smaller ε."


def test_the_headline_names_the_leaks():
    from types import SimpleNamespace

    from pages._ui.privacy.verdict import leaking

    def one(level, text, finding="x"):
        return SimpleNamespace(level=level, text=text, finding=finding)

    said = [
        one("leak", "Details of people: whoever"),
        one("unsure", "Copied text: 1%"),
        one("leak", "Membership: 5 of 14"),
    ]
    assert leaking(said) == " 2 leaks: details of people, membership."
    assert leaking(said[1:2]) == ""
    assert leaking([one("leak", "Guarantee: broken", "guarantee")]) == "", "the box calls that broken, not a leak"


@pytest.mark.parametrize("view", ["Leaks", "Groups"])
def test_only_the_leaks_have_the_box_open_above_them(seeded, visit, view):
    """Before, the box filled the screen on every view; what is folded says how much of which kind stands behind it."""
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.view": view})
    boxes = [box for box in app.expander if box.label.startswith("What was found: ")]
    assert len(boxes) == (view != "Leaks")
    assert app.container(key="privacy.head").markdown, "the answer is open on every view"
    lines = verdict_lines(app.container(key="privacy.verdict"))
    for box in boxes:
        assert not box.proto.expanded
        assert sum(map(int, re.findall(r"\[(\d+) ", box.label))) == len(lines)


def test_a_folded_box_says_what_stands_in_it():
    said = [Sentence("A: a", "leak", "a"), Sentence("B: b", "unsure", "b"), Sentence("C: c", "leak", "c"),
            Sentence("Formal claim: c", "leak", "guarantee")]  # fmt: skip
    told = verdict_box.behind([said])
    assert told.startswith("What was found: :red[")
    assert ":red[2 leaks]" in told
    assert ":red[1 proof contradicted]" in told
    assert ":orange[1 cannot tell]" in told


def test_why_fewer_records_than_were_used_are_compared_is_said():
    def found(reference: str, records: int | None) -> Finding:
        settings = {} if records is None else {"reference_records": records}
        return Finding("verbatim_8gram", 0.1, 0.0, 0.2, 60, reference, "share", "lower is safer", "privacy",
                              settings)  # type: ignore[arg-type]  # fmt: skip

    said = verdict_box.as_many([found("train", 402), found("holdout", 118)])
    assert said.startswith("Of 402 records used, 118 are compared")
    assert verdict_box.as_many([found("train", 118), found("holdout", 118)]) == ""
    assert verdict_box.as_many([found("train", None), found("holdout", None)]) == ""


@pytest.mark.parametrize(("alone", "said"), [(1, "One person's: 3 here, 1 in the line"), (3, ""), (None, "")])
def test_two_counts_of_what_one_person_has_are_told_apart(alone, said):
    table = pd.DataFrame(
        [("PERSON", "direct", 877, 3, 3, "train"), ("DATE", "quasi", 1081, 81, 34, "train")],
        columns=["label", "identifier_type", "entities", "leaked", "rare_leaked", "reference"],
    )  # fmt: skip
    settings = {} if alone is None else {"alone": alone, "alone_of": 741}
    found = Finding("strict_elp_direct", 0.1, 0.0, 0.2, 741, "train", "share", "lower is safer", "privacy",
                           settings)  # type: ignore[arg-type]  # fmt: skip
    told = privacy_kinds.two_counts(privacy_kinds.kinds(table).one_persons, [found])
    assert told.startswith(said)
    assert bool(told) is bool(said)
