"""The compare page: better, worse or cannot tell; the board; texts side by side."""

from __future__ import annotations

import dataclasses
import json
import re
from types import SimpleNamespace

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

import engine
from engine.dp.guarantee import Guarantee
from engine.examine.compare import compare
from engine.examine.findings.findings import Finding
from engine.examine.findings.sentence import Sentence
from engine.examine.measures import MEASURES
from engine.store.database.schema import runs
from pages._ui.compare import board as compare_board
from pages._ui.compare import leave as compare_leave
from pages._ui.compare import overview as compare_overview
from pages._ui.compare import rests as compare_rests
from pages._ui.compare import table as compare_table
from pages._ui.examined.table import fewer
from tests.store.span_tables import add_span


def words(app, *kinds: str) -> str:
    return "\n".join(str(e.value) for kind in kinds for e in getattr(app, kind))


def test_empty(empty, visit):
    app = visit("compare")
    assert "Nothing loaded yet" in words(app, "subheader")
    assert not app.radio, "there is nothing yet to view one way or another"


def test_one_examined_run_is_not_enough(seeded, visit):
    seeded.open().runs.delete(seeded.other)
    app = visit("compare")
    assert "Two examined runs are needed" in words(app, "subheader")


def test_full(seeded, visit):
    app = visit("compare", **{"compare.view": "Table", "compare.runs": [seeded.other, seeded.run]})
    assert app.multiselect(key="compare.runs").value == [seeded.other, seeded.run]
    sentence = next(m.value for m in app.markdown if "against" in m.value)
    assert "1 · Write anew, then filter" in sentence
    table = pd.concat(frame.value for frame in app.dataframe)
    assert {"Run 1", "Run 2"} <= set(table.columns), "a run's name would be cut in a narrow window"
    column = "1 against 2"
    copies = table[table["Finding"] == "Records with an eight-word copy (of all used)"]
    assert copies[column].iloc[0] == "▲ better"  # 12 copies of 120 against 90 of 120
    clear = [f.value for f in app.dataframe if str(f.key).startswith("compare.apart.")]
    assert all(said.startswith(("▲ better", "▼ worse")) for frame in clear for said in frame[column])
    assert {"Records with an eight-word copy (of all used)"} <= set(
        clear[0]["Finding"]
    )  # what tells them apart comes first
    topics: dict[str, list[bool]] = {}
    for told in clear[0]["Finding"]:
        topic = next(one.topic for one in engine.MEASURES.values() if told.startswith(one.title.partition(":")[0]))
        topics.setdefault(topic, []).append(told.endswith("more than chance"))
    assert topics
    for excess in topics.values():
        assert excess == sorted(excess, reverse=True)  # and of that, what is held against chance
    open_ = words(app.container(key="compare.apart.privacy.full"), "markdown")
    assert "Measured" in open_
    assert "p " in open_
    boxes = {box.label: box.proto.expanded for box in app.expander if box.label.startswith("**")}
    assert len(boxes) == 2
    assert all("Not told apart" in label for label in boxes)
    rest = [f.value for f in app.dataframe if not str(f.key).startswith("compare.apart.")]
    assert len(rest) >= 4  # by topic
    assert all(not said.startswith(("▲", "▼")) for frame in rest for said in frame[column])
    assert not any(boxes.values())  # folded


def test_another_row_is_shown_in_full_by_choice(seeded, visit):
    app = visit("compare", **{"compare.view": "Table", "compare.runs": [seeded.other, seeded.run],
                              "compare.apart.privacy.open": "verbatim_8gram train"})  # fmt: skip
    shown = words(app.container(key="compare.apart.privacy.full"), "markdown")
    assert "eight" in shown
    assert "training part" in shown
    assert "to" in shown  # intervals stand here; a line has the values alone


def test_context_is_shown_on_request(seeded, visit):
    app = visit("compare", **{"compare.view": "Table", "compare.runs": [seeded.other, seeded.run]})
    judged = pd.concat(frame.value for frame in app.dataframe)
    assert all(judged["1 against 2"] != "")
    app.toggle(key="compare.context").set_value(True).run()
    full = pd.concat(frame.value for frame in app.dataframe)
    assert len(full) > len(judged)
    assert "real records in place of synthetic ones" in set(full["Held against"])


def test_one_run_chosen(seeded, visit):
    app = visit("compare", **{"compare.view": "Table", "compare.runs": [seeded.run]})
    assert "at least two" in words(app, "info")


@pytest.mark.parametrize(
    ("held", "left"),
    [
        (["another corpus' run", "and one more"], ["run", "other"]),
        (["run", "a deleted run"], ["run", "other"]),
        (["other", "a deleted run"], ["other", "run"]),
        (["other"], ["other"]),
        ([], []),
    ],
)  # fmt: skip
def test_what_was_chosen_of_another_corpus_leaves_no_empty_choice(seeded, visit, held, left):
    options = list(visit("compare", **{"compare.view": "Table"}).multiselect(key="compare.runs").value)
    assert sorted(options) == sorted([seeded.run, seeded.other])
    ids = {"run": options[0], "other": options[1]}
    app = visit("compare", **{"compare.view": "Table", "compare.runs": [ids.get(one, one) for one in held]})
    assert not app.exception
    assert app.multiselect(key="compare.runs").value == [ids[one] for one in left]


@pytest.mark.parametrize("view", ["Board", "Side by side", "Texts"])
def test_views(seeded, visit, view):
    app = visit("compare", **{"compare.view": view, "compare.runs": [seeded.run, seeded.other]})
    if view == "Texts":
        shown = [str(e.value) for e in app.text]
        assert shown[0] == str(seeded.open().runs.synthetic(seeded.run, limit=1)["text"].iloc[0])
        app.number_input(key="compare.text").set_value(120).run()
        assert "point 833" in str(app.text[0].value)
    else:
        assert app.get("plotly_chart")


def test_running_and_failed(seeded, visit, add_run, import_small):
    workspace = seeded.open()
    corpus = import_small(workspace)
    run = add_run(workspace, corpus.id, [], state="failed", error="The disk is full.")
    app = visit("compare", **{"_ui.next_corpus": corpus.id})
    assert "The disk is full" in words(app, "error")
    add_run(workspace, corpus.id, [], state="running")
    app = visit("compare", **{"_ui.next_corpus": corpus.id})
    assert "running" in words(app, "info") + words(app, "markdown")
    assert workspace.runs.get(run).state == "failed"


def review_again(workspace, corpus: str) -> None:
    """Add a span, after which what was made and examined before is out of date."""
    record = str(workspace.corpora.records(corpus, split="train", limit=1)["record_id"].iloc[0])
    add_span(workspace, corpus, record, 0, 3, "PERSON")


def name_runs(workspace, **named: str) -> None:
    for name, run in named.items():
        workspace.runs.describe(run, name=name.capitalize(), note="")


def test_what_could_meet_no_policy_because_it_is_out_of_date_is_said_to_be(seeded, visit, monkeypatch):
    """A run made without spans is not made anew after a review, but examined anew; before, the board said "none"."""
    workspace = seeded.open()
    review_again(workspace, seeded.corpus)
    with workspace.session.db.write() as connection:
        connection.execute(runs.update().where(runs.c.id == seeded.other).values(needs_spans=False))
    known = {run.id: run for run in workspace.runs.all(seeded.corpus)}
    assert (known[seeded.run].stale, known[seeded.other].stale, known[seeded.other].examination_stale) == (
        True, False, True,
    )  # fmt: skip
    app = visit("compare")
    table = next(frame.value for frame in app.dataframe if compare_overview.COULD in frame.value)
    assert set(table[compare_overview.COULD]) == {"out of date"}
    monkeypatch.setattr(compare_overview, "privacy_verdict", lambda *_: ())
    app = visit("compare")
    assert words(app, "markdown").count("no leak seen, out of date.") == 2
    assert "no leak seen" not in "".join(chart.proto.spec for chart in app.get("plotly_chart")), "beside its mark too"


def test_stale_names_every_run_in_view_that_is_and_no_other(seeded, visit, add_run, examine):
    workspace = seeded.open()
    review_again(workspace, seeded.corpus)
    with workspace.session.db.write() as connection:
        connection.execute(runs.update().where(runs.c.id == seeded.other).values(needs_spans=False))
    fresh, second = (
        add_run(workspace, seeded.corpus, [{"text": f"The {word} was late again, and nobody said why."}] * 3)
        for word in ("bus", "train")
    )
    for run in (fresh, second):
        examine(workspace, run, groups=("privacy",))
    name_runs(workspace, alder=seeded.run, birch=seeded.other, cedar=fresh, douglas=second)
    said = words(visit("compare"), "warning")
    assert re.search(r"Made before the review changed: 1 · Alder[^.]*\. To compare like with like, make it again", said)
    assert re.search(r"Examined before the review changed: 2 · Birch[^.]*\. Examine it again", said)
    assert "Cedar" not in said
    for view in ("Side by side", "Table", "Texts"):
        state = {"compare.view": view}
        assert not visit("compare", **state, **{"compare.runs": [fresh, second]}).warning, view
        said = words(visit("compare", **state, **{"compare.runs": [fresh, seeded.other]}), "warning")
        assert "Birch" in said, view
        assert "Alder" not in said, view


def test_a_share_of_the_whole_training_part_is_not_taken_for_one_at_equal_sizes(seeded, visit):
    """Both stand in one table; before, they had one name, and Privacy leads with the other."""
    whole, equal = "Records with a private entity of all that was used", "Records with a private entity"
    app = visit("compare", **{"compare.view": "Table", "compare.runs": [seeded.other, seeded.run],
                              "compare.context": True})  # fmt: skip
    table = pd.concat(frame.value for frame in app.dataframe)
    short = whole.replace("of all that was used", "(of all used)")  # of what tells the runs apart
    assert {whole, short} & set(table["Finding"])
    assert set(table.loc[table["Finding"] == equal, "Held against"]) == {
        "set aside (used by nobody)", "real records in place of synthetic ones",
    }  # fmt: skip
    of_training = table[table["Held against"] == "training part"]
    plain = set(of_training.loc[~of_training["Finding"].str.contains("of all "), "Finding"])
    assert "Rare entities that leaked" in plain, "nothing at equal sizes stands beside it"
    app = visit("compare")
    box = app.selectbox(key="compare.board.privacy")
    assert whole in box.options
    box.set_value("pipp").run()
    heads = next(json.loads(one.proto.columns) for one in app.dataframe if compare_overview.COULD in one.value)
    assert heads["Records with a private entity"]["help"].startswith(f"{whole}: ")
    chart = json.loads(app.get("plotly_chart")[0].proto.spec)
    assert whole in chart["layout"]["yaxis"]["title"]["text"].replace("<br>", " ")


def test_what_has_a_part_of_equal_size_has_a_row_above_chance_beside_it(seeded):
    findings = seeded.open().examinations.findings(seeded.run)
    sized = {f.name for f in findings if f.settings.get("equal_size_value") is not None}
    assert len(sized) >= 8
    assert {f"{name}_excess" for name in sized} <= {f.name for f in findings}


def test_board_offers_what_at_least_half_of_the_runs_have():
    def finding(name: str, value: float, group: str = "privacy") -> Finding:
        return Finding(name, value, None, None, 1, "train", name, "lower is safer", group)  # type: ignore[arg-type]

    findings = {
        "a": [finding("pipp", 0.1), finding("verbatim_8gram", 0.2), finding("elp", float("nan"))],
        "b": [finding("verbatim_8gram", 0.2), finding("elp", 0.1), finding("mauve", 0.2, "utility")],
    }
    assert compare_board.common(findings, "privacy") == ["verbatim_8gram"]
    assert compare_board.common(findings, "utility") == []
    more = findings | {"c": [finding("pipp", 0.3)], "d": [finding("mauve", 0.3, "utility")]}
    assert set(compare_board.common(more, "privacy")) == {"pipp", "verbatim_8gram"}
    assert compare_board.common(more, "utility") == ["mauve"]


def test_cell():
    nan = float("nan")
    assert compare_table.cell("pipp", 0.25, 0.2, 0.3) == "25.0% (20.0% to 30.0%)"
    assert compare_table.cell("pipp", 0.25, nan, nan) == "25.0%"
    assert compare_table.cell("pipp", nan, nan, nan) == "–"


def test_what_was_not_measured_is_neither_judged_nor_drawn():
    """Rows without a number in any run are left out; the sentence counts only what both runs have."""
    nothing = float("nan")

    def rows(value: float) -> list[Finding]:
        return [
            Finding("pipp", value, value - 0.01, value + 0.01, 100, "train", "share", "lower is safer", "privacy"),
            Finding("perplexity", nothing, None, None, 0, "train", "score", "lower is safer", "privacy"),
        ]

    table = compare({"r-1": rows(0.5), "r-2": rows(0.1)})
    (sentence,) = compare_table.sentences(table, {"r-1": "A · One", "r-2": "B · Two"})
    assert "Privacy: better on 1, worse on none of 1" in sentence

    def page() -> None:
        import streamlit as st

        from pages._ui.compare import table as compare_table

        compare_table.draw(st.session_state["table"], {"r-1": "A · One", "r-2": "B · Two"}, "privacy", context=False)

    app = AppTest.from_function(page, default_timeout=30)
    app.session_state["table"] = table
    app.run()
    assert list(app.dataframe[0].value["B against A"]) == ["▲ better"]
    assert "Left out: 1 row that" in words(app, "caption")


def test_the_board_says_first_which_run_shows_the_fewest_leaks_and_suits_the_most_uses():
    def said(*levels: str) -> list[Sentence]:
        return [Sentence(level, level, "", "") for level in levels]  # type: ignore[arg-type]

    def use(mark: str, size: int = 60, least: int = 0) -> engine.Use:
        return engine.Use("Teaching", mark, "", "readable", None, size, least)  # type: ignore[arg-type]

    names = {"r-1": "1 · One", "r-2": "2 · Two"}
    judged = {"r-1": said("leak", "leak", "slight"), "r-2": said("unsure", "chance", "chance")}
    uses = {"r-1": [use("unknown", 60, 100)], "r-2": [use("cross"), use("unknown", 60, 900)]}
    kept = {"r-1": 124, "r-2": 124}
    assert compare_overview.fewest_leaks(names, judged, uses) == (
        "Fewest leaks found: 2 · Two (none seen, 1 cannot tell), but it suits no use that could be judged."
    )
    assert compare_overview.most_uses(names, uses, kept) == (
        "Most uses: no run suits one that could be judged. 1 · One has too few texts to judge (60 beside real ones; "
        "100 are needed): plan about 210."  # as Utility says of that run: 124 texts, of which 60 could be held
    )
    judged["r-2"] = said("unknown", "unknown", "unknown")  # what was not measured is not a run without leaks
    uses["r-1"] = [use("tick"), use("warning")]
    assert compare_overview.fewest_leaks(names, judged, uses) == (
        "Fewest leaks found: 1 · One (2 leaks, 1 slight leak)."
    )
    assert compare_overview.most_uses(names, uses, kept) == "Most uses: 1 · One (1 suited, 1 with care)."


def test_a_value_of_a_line_has_three_digits_behind_the_point():
    assert [compare_table.brief("kid", value) for value in (0.000978, -0.00891, -0.0001, 36.52)] == [
        "0.001", "−0.009", "0.000", "36.5",
    ]  # fmt: skip
    assert compare_table.brief("pipp", 0.0005) == "under 0.1%"
    assert compare_table.brief("kid", float("nan")) == "–"


def test_what_moves_with_the_number_of_texts_is_not_called_cannot_tell():
    def rows(value: float, texts: int) -> list[Finding]:
        return [Finding("js_2gram", value, value - 0.01, value + 0.01, 100, "train", "divergence", "lower is better",
                        "utility", {"texts_a_side": texts})]  # fmt: skip

    table = compare({"r-1": rows(0.85, 60), "r-2": rows(0.65, 600)})
    (sentence,) = compare_table.sentences(table, {"r-1": "A · One", "r-2": "B · Two"})
    assert "better on none, worse on none of 0 (1 more moves with the number" in sentence
    assert compare_table.outcome("better", 400) == "▲ better, at 400 texts"
    assert compare_table.outcome("other size", 0) == "– no number of texts in common"


def test_a_run_that_is_not_on_the_board_is_told_of_its_own_number_of_texts():
    """The column's help says at how many texts the board's runs stand; this one lacks the other finding."""
    run = SimpleNamespace(title="Filter", method="filter", kept=600)
    drawn = SimpleNamespace(number=3, promise="no proof")
    found = [Finding("js_2gram", 0.5, 0.4, 0.6, 600, "train", "divergence", "lower is better", "utility",
                     {"texts_a_side": 1600})]  # fmt: skip
    at_100 = [dataclasses.replace(found[0], value=0.8, low=0.7, high=0.9, settings={"texts_a_side": 100})]

    def said(equal: list[Finding] | None, cut: dict[str, int]) -> str:
        row = compare_overview._row(run, drawn, found, equal, {"utility": "js_2gram"}, cut)  # type: ignore[arg-type]
        return str(row[MEASURES["js_2gram"].title])

    assert said(None, {"js_2gram": 100}).endswith(", of 1,600 texts")
    assert said(None, {}) == said(found, {})
    assert said(at_100, {"js_2gram": 100}).startswith("0.8")


def test_values_at_fewer_texts_are_told_with_their_intervals():
    kept = {"50": [0.91, 0.88, 0.9349], "1000": [0.5, None, None], "2000": [None, None, None]}
    assert fewer(kept) == "0.91 (0.88 to 0.935) of 50, 0.5 of 1,000, none of 2,000"


def test_the_board_opens_first_with_every_run_in_its_table(seeded, visit):
    app = visit("compare")
    assert app.radio(key="compare.view").value == "Board"
    table = app.dataframe[0].value
    assert list(table["Run"]) == [2, 1]  # newest first
    assert set(table["Proof"]) == {"nothing proven"}
    assert all(
        re.fullmatch(r"(\d+ (leaks?|cannot tell|not above chance|too few to tell)(, )?)+", said)
        for said in table["Leaks"]
    )
    for said in table["Uses"]:
        assert re.fullmatch(r"(\d+ (suited|with care|not suited|not known)(, )?)+", said)
        assert sum(map(int, re.findall(r"\d+", said))) == len(engine.use_table([]))
    assert "Picking a run" not in words(app, "caption").replace("picking", "Picking")  # no run here has a proof
    said = words(app, "markdown")
    assert ("None of these can leave the team yet" in said) is not ("Can leave the team, as measured:" in said)
    name = app.selectbox(key="compare.board.privacy").value
    found = [seeded.open().examinations.findings(run) for run in (seeded.run, seeded.other)]
    assert name == "verbatim_8gram", "as Privacy's box says it"
    assert any(engine.rests_on_all(rows, name) for rows in found)
    assert "At equal numbers, of as many records as are set aside: run " in words(app, "caption")
    assert app.button(key="compare.put").disabled  # nothing is ticked


def test_board_of_other_findings(seeded, visit):
    app = visit("compare")
    app.selectbox(key="compare.board.privacy").set_value("longest_run").run()
    app.selectbox(key="compare.board.utility").set_value("js_1gram").run()
    assert not app.exception
    assert {MEASURES[name].title for name in ("longest_run", "js_1gram")} <= set(app.dataframe[0].value.columns)


def test_ticked_runs_go_side_by_side(seeded, visit):
    app = visit("compare", **{"compare.view": "Side by side", "compare.runs": [seeded.other, seeded.run]})
    assert len(app.get("plotly_chart")) == 4  # privacy, use, and a figure a run
    for which in ("shares", "closeness", "lengths", "likeness", "map", "funnel", "attacks"):
        app.selectbox(key="compare.figure").set_value(which).run()
        assert not app.exception, which


def test_the_table_says_which_policy_each_run_meets(seeded, visit):
    app = visit("compare")
    could = compare_overview.COULD
    table = next(frame.value for frame in app.dataframe if could in frame.value)
    workspace = seeded.open()
    met = {workspace.releases.audience(run).policy for run in (seeded.run, seeded.other)}
    assert set(table[could]) == {"none" if policy is None else policy.title for policy in met}


def test_a_clicked_point_names_its_run():
    assert compare_board.picked_run({"selection": {"points": [{"customdata": ["r-1"]}]}}) == "r-1"  # type: ignore[arg-type]
    assert compare_board.picked_run({"selection": {"points": []}}) is None  # type: ignore[arg-type]
    assert compare_board.picked_run(None) is None  # type: ignore[arg-type]


def test_what_is_proven_stands_beside_the_mark():
    assert compare_board.promise(Guarantee("none", "Nothing.")) == "nothing proven"
    proven = Guarantee("dp", "It holds.", epsilon=4.0, delta=1e-6, unit="record", adjacency="zero-out")
    assert compare_board.promise(proven) == "ε 4"


def test_p_values_in_words():
    assert compare_table.how(float("nan"), 0) == ""
    assert compare_table.how(0.0001, 0) == "p < 0.001"
    assert compare_table.how(0.031, 120) == "p = 0.031, 120 people paired"


def test_a_paid_choice_is_offered_where_two_runs_have_a_proof(small, open_page, add_run):
    workspace = small.open()
    assert not [box for box in open_page("compare").expander if "records choose" in box.label]
    claim = Guarantee(
        "dp", "Proven.", epsilon=1.0, delta=1e-6, unit="source", adjacency="zero-out", scope="the complete output"
    )
    made = [
        add_run(workspace, small.corpus, [{"text": f"{word} came late."} for word in ("Soup", "Bread", "Wine")])
        for _ in range(2)
    ]
    with workspace.session.db.write() as connection:
        connection.execute(
            runs.update().where(runs.c.id.in_(made)).values(guarantee=claim.as_dict(), needs_spans=False)
        )
    app = open_page("compare", **{"compare.choice": True})
    shown = next(frame.value for frame in app.dataframe if "Examined" in frame.value.columns)
    assert list(shown["Examined"]) == ["no", "no"]
    assert "mostly noise" in words(app, "markdown")  # eighty tickets cannot tell two runs apart at ε = 0.5
    app.button(key="compare.choice.start").click().run()
    run = next(run for run in workspace.runs.all(small.corpus) if run.method == "paid-choice")
    assert set(run.parameters["promise"]["runs"]) == set(made)
    assert run.guarantee.epsilon == pytest.approx(2.5)
    assert run.count == 3


def test_what_is_being_examined_is_said_and_the_rest_can_be_examined_here(seeded, visit, add_job):
    """Before, Compare said that no run was examined, whatever was under way, and sent to another page."""
    workspace = seeded.open()
    clear_examinations(workspace)
    job = add_job(workspace, "examine", "running", corpus_id=seeded.corpus, run_id=seeded.run)
    app = visit("compare")
    said = words(app, "markdown")
    assert "0 runs examined, 1 being examined, 1 finished and not examined" in said
    assert "**Measuring privacy and utility**" in said
    assert any((one.key or "").endswith(job) for one in app.button), "its cancel button"
    app.button(key=f"compare.quick.{seeded.other}").click().run()
    assert not app.exception
    asked = [one.run_id for one in workspace.jobs.all(active_only=True) if one.kind == "examine"]
    assert sorted(asked) == sorted([seeded.run, seeded.other])


def test_a_failed_examination_is_told_on_compare(seeded, visit, add_job):
    workspace = seeded.open()
    clear_examinations(workspace)
    add_job(workspace, "examine", "failed", corpus_id=seeded.corpus, run_id=seeded.run, error="the disk is full")
    app = visit("compare")
    assert "the disk is full" in words(app, "error")
    assert f"compare.examine.{seeded.run}" in {one.key for one in app.button}


def clear_examinations(workspace) -> None:
    with workspace.session.db.write() as connection:
        connection.execute(runs.update().values(examined_at=None))


def test_a_run_that_read_nothing_private_is_not_said_to_leak_more():
    table = pd.DataFrame(
        {"name": ["pipp", "pipp_direct", "mauve"], "group": ["privacy", "privacy", "utility"],
         "b against first": ["worse", "better", "worse"], "c against first": ["worse", "better", "better"]}
    )  # fmt: skip
    judged = compare_table.without_private(table, ["b"], ["a", "b", "c"])
    assert judged["b against first"].tolist() == ["chance", "better", "worse"]
    assert judged["c against first"].tolist() == ["worse", "better", "better"]
    first = compare_table.without_private(table, ["a"], ["a", "b", "c"])
    assert first["c against first"].tolist() == ["worse", "chance", "better"]
    assert table["b against first"].tolist() == ["worse", "better", "worse"], "the table itself stays as it is"
    assert compare_table.outcome("chance", 0).startswith("– chance")


def test_the_board_opens_with_a_measure_of_use_that_tells_its_runs_apart():
    def run(known: float, far: float) -> list[Finding]:
        rows = []
        for name, value, half in (("pipp", 0.2, 0.1), ("next_word", known, 0.05), ("mauve", far, 0.05)):
            measure = MEASURES[name]
            rows.append(Finding(name, value, value - half, value + half, 50, "train", measure.measure,
                                measure.direction, measure.group))  # fmt: skip
        return rows

    names = ["next_word", "mauve"]
    apart = {"r-1": run(0.2, 0.3), "r-2": run(0.21, 0.9)}
    assert compare_board.clearest(apart, "pipp", names, "next_word") == "mauve"
    alike = {"r-1": run(0.2, 0.3), "r-2": run(0.21, 0.31)}
    assert compare_board.clearest(alike, "pipp", names, "next_word") == "next_word"


def test_leaks_are_counted_as_privacy_names_them(seeded, visit):
    workspace = seeded.open()
    chosen = [seeded.other, seeded.run]
    expected = []
    for called, run_id in zip(("2 · Replace what identifies", "1 · Write anew, then filter"), chosen, strict=True):
        found = engine.privacy_verdict(
            workspace.examinations.findings(run_id), workspace.examinations.table(run_id, "attacks"),
            workspace.runs.get(run_id).guarantee.as_dict(),
        )  # fmt: skip
        expected.append((called, sum(one.level == "leak" for one in found)))
    assert any(count for _, count in expected)
    app = visit("compare", **{"compare.view": "Side by side", "compare.runs": chosen})
    said = next(m.value for m in app.markdown if "Run by run" in str(m.value))
    for called, count in expected:
        assert f"{called}: {count or 'no leak'}" in said.replace("\\", "")
    board = next(
        m.value for m in visit("compare", **{"compare.view": "Board"}).markdown if "Run by run" in str(m.value)
    )
    for called, _ in expected:
        assert f"{called}: " in board.replace("\\", ""), "one number and name in every view"
    assert "**Fewest leaks found:**" in words(visit("compare", **{"compare.view": "Board"}), "markdown")


def audience(policy: str | None, wider: str | None, *missing: str) -> engine.Audience:
    def made(name: str | None):
        return None if name is None else SimpleNamespace(id=name, title=name.capitalize())

    rules = tuple(SimpleNamespace(title=rule) for rule in missing)
    return engine.Audience(made(policy), made(wider), rules)  # type: ignore[arg-type]


def test_the_board_closes_with_who_can_leave_the_team_by_the_rules_alone():
    names, titles = {"a": "1 · One", "b": "2 · Two", "c": "3 · Three"}, ["Internal", "Research", "Public"]
    readers = {
        "a": audience("exploratory", "internal", "Few names"),
        "b": audience("exploratory", "internal", "X", "Y"),
        "c": audience(None, "exploratory", "Z"),
    }
    said = compare_leave.sentence(names, readers, [], {}, titles)
    assert said.startswith(
        "**None of these can leave the team yet** under Internal, Research or Public. Nearest: 1 · One"
    )
    assert "of which 1 rule of “Internal” is not met: “Few names”." in said
    old = compare_leave.sentence(names, readers, ["a"], {}, titles)
    assert "Nearest: 2 · Two, of which 2 rules of “Internal” are not met. Out of date, so not ranked: 1 · One." in old
    every = compare_leave.sentence(names, readers, list(names), {}, titles)
    assert every.endswith(
        "Which is nearest is not known: all findings are out of date, and such findings meet no rule."
    )
    readers["b"] = audience("research", "public", "X")
    some = compare_leave.sentence(names, readers, ["c"], {"b": 2, "a": 1}, titles)
    assert some.startswith("**Can leave the team, as measured:** 2 · Two, with 2 leaks found (Research).")
    assert "Stays inside: 1 · One. Not known, since out of date: 3 · Three." in some
    assert "Under no policy: 3 · Three." in compare_leave.sentence(names, readers, [], {}, titles)


def test_the_board_opens_with_a_share_above_chance_however_wide_where_it_shows_a_leak():
    """Privacy's box names the share at equal sizes; of the whole training part there is another, larger one."""

    def run(excess: tuple[float, float, float]) -> list[Finding]:
        rows = (("strict_pipp_excess", "holdout", (0.0, -0.1, 0.1)), ("verbatim_8gram_excess", "holdout", excess),
                ("verbatim_8gram", "train", (0.9, 0.8, 1.0)), ("next_word", "train", (0.2, 0.1, 0.3)))  # fmt: skip
        measures = [(MEASURES[name], name, reference, ends) for name, reference, ends in rows]
        return [Finding(name, *ends, 50, reference, m.measure, m.direction, m.group)  # type: ignore[arg-type]
                for m, name, reference, ends in measures]  # fmt: skip

    def page() -> None:
        import streamlit as st

        from pages._ui.compare import board as compare_board

        compare_board._ask(st.session_state["findings"])

    for excess, first in (((0.42, 0.16, 0.70), "verbatim_8gram_excess"), ((0.1, -0.3, 0.4), "strict_pipp_excess")):
        app = AppTest.from_function(page, default_timeout=30)
        app.session_state["findings"] = {"r-1": run(excess), "r-2": run((0.0, -0.06, 0.06))}
        app.run()
        assert not app.exception
        assert app.selectbox(key="compare.board.privacy").value == first
    assert compare_table.cell("verbatim_8gram_excess", 0.42, 0.16, 0.70).startswith("42.0 pp (16.0 to 70.0 pp)")
    assert compare_table.cell("verbatim_8gram_excess", 0.1, -0.3, 0.4).startswith("cannot be compared")


def test_what_stands_below_is_spoken_of_only_where_it_does(seeded, visit):
    workspace = seeded.open()
    claim = Guarantee("dp", "Proven.", epsilon=1.0, delta=1e-6, unit="source", adjacency="zero-out", scope="all")
    with workspace.session.db.write() as connection:
        connection.execute(
            runs.update().where(runs.c.id == seeded.run).values(guarantee=claim.as_dict(), needs_spans=False)
        )
    app = visit("compare")
    said = words(app, "caption")
    assert "Only for the policy “Proof alone”" in said
    assert ("(below)" in said) is any("records choose" in box.label for box in app.expander)
    assert "(below)" not in said, "one run with a proof leaves nothing to choose among"


def test_a_difference_on_the_board_stands_behind_the_two_shares_that_privacy_names():
    def at(reference: str, value: float, **settings: float) -> Finding:
        m = MEASURES["verbatim_8gram"]
        return Finding("verbatim_8gram", value, 0.0, 1.0, 60, reference, m.measure, m.direction, m.group, settings)  # type: ignore[arg-type]

    excess = dataclasses.replace(at("holdout", 13 / 60 - 5 / 60), name="verbatim_8gram_excess", low=-0.06, high=0.33)
    rows = [at("train", 17 / 60, equal_size_value=13 / 60), at("holdout", 5 / 60), excess]
    run = SimpleNamespace(title="Filter", method="filter", kept=60)
    drawn = SimpleNamespace(number=3, promise="nothing proven")

    def said(found: list[Finding]) -> str:
        row = compare_overview._row(run, drawn, found, None, {"privacy": "verbatim_8gram_excess"}, {})  # type: ignore[arg-type]
        return str(row[MEASURES["verbatim_8gram_excess"].title])

    assert said(rows) == "21.7% against 8.3% by chance: 13.3 pp (−6.0 to 33.0 pp)"
    other = [*rows[:2], dataclasses.replace(excess, value=0.05)]  # of other values than these shares
    assert said(other).startswith("5.0 pp")


def copied(all_used: float, equal: float, chance: float) -> list[Finding]:
    """Return an eight-word copy's findings as an examination leaves them: whole part, set aside, real, difference."""

    def at(name: str, reference: str, ends: tuple[float, float, float], **settings: float) -> Finding:
        m = MEASURES[name]
        return Finding(name, *ends, 60, reference, m.measure, m.direction, m.group, settings)  # type: ignore[arg-type]

    return [
        at("verbatim_8gram", "train", (all_used, max(0.0, all_used - 0.1), min(1.0, all_used + 0.06)),
           equal_size_value=equal),
        at("verbatim_8gram", "holdout", (chance, max(0.0, chance - 0.02), chance + 0.1)),
        at("verbatim_8gram", "baseline", (0.085, 0.04, 0.17)),
        at("verbatim_8gram_excess", "holdout", (equal - chance, -0.05, 0.4)),
        at("next_word", "train", (0.2, 0.1, 0.3)),
    ]  # fmt: skip


def test_copied_text_has_on_the_board_the_number_that_the_verdict_rests_on():
    """Before, Privacy said 100.0% where the board and its table said 36.7%, since those were at equal numbers."""

    def page() -> None:
        import streamlit as st

        from pages._ui.compare import board as compare_board

        compare_board._ask(st.session_state["findings"])

    def opens_with(findings: dict[str, list[Finding]]) -> str:
        app = AppTest.from_function(page, default_timeout=30)
        app.session_state["findings"] = findings
        app.run()
        assert not app.exception
        return str(app.selectbox(key="compare.board.privacy").value)

    leaking, none = copied(1.0, 22 / 60, 1 / 60), copied(0.0, 0.0, 0.0)
    found = {"r-1": leaking, "r-2": none}
    assert opens_with(found) == "verbatim_8gram"
    assert opens_with({"r-1": none, "r-2": none}) == "verbatim_8gram_excess", "no verdict rests on all that was used"
    run = SimpleNamespace(title="Replace", method="surrogate", kept=60)
    drawn = SimpleNamespace(number=1, promise="nothing proven")

    def cell(rows: list[Finding], name: str) -> str:
        row = compare_overview._row(run, drawn, rows, None, {"privacy": name}, {})  # type: ignore[arg-type]
        return str(row[MEASURES[name].title])

    assert cell(leaking, "verbatim_8gram") == "100.0% (90.0% to 100.0%); real records 8.5%"
    assert cell(leaking, "verbatim_8gram_excess").startswith(
        "100.0% of all that was used; real records 8.5%. At equal numbers 36.7% against 1.7% by chance: 35.0 pp ("
    )
    assert cell(none, "verbatim_8gram_excess").startswith("0.0% against 0.0% by chance: ")
    numbers = {"r-1": "1", "r-2": "2"}
    assert compare_rests.sentence(numbers, found, "verbatim_8gram").endswith(
        "as many records as are set aside: run 1 36.7% against 1.7% by chance, run 2 0.0% against 0.0% by chance."
    )
    assert compare_rests.sentence(numbers, found, "verbatim_8gram_excess").endswith(
        "is at equal numbers. Privacy's verdict rests on all that was used: run 1 100.0%."
    )
    assert compare_rests.sentence(numbers, {"r-2": none}, "verbatim_8gram_excess") == ""
    assert compare_rests.sentence(numbers, found, "pipp") == ""


def test_the_board_draws_what_real_records_copy_beside_what_runs_copy():
    from engine.figures.board import BoardRun, board

    runs = {run: BoardRun(at, "Replace", "surrogate", "nothing proven") for at, run in enumerate(("r-1", "r-2"), 1)}
    figure = board(runs, {"r-1": copied(1.0, 0.4, 0.0), "r-2": copied(0.0, 0.0, 0.0)}, "verbatim_8gram", "next_word")
    assert [note.text for note in figure.plot.layout.annotations] == ["real records"]
    assert figure.plot.layout.shapes[0].y0 == pytest.approx(0.085)


def test_who_can_have_the_texts_stands_before_everything_else_on_the_board(seeded, visit):
    said = [str(m.value) for m in visit("compare").markdown]
    leave, fewest = (
        next(i for i, one in enumerate(said) if words in one) for words in (" leave the team", "Fewest leaks")
    )
    assert leave < fewest


def test_a_row_of_the_board_is_as_high_as_its_longest_number_where_digits_are_wide(monkeypatch):
    """A cell of five lines was cut at 1,024 pixels: a line of digits holds fewer than one of letters."""
    high = {}

    def frame(data: pd.DataFrame, **options: object) -> dict[str, object]:
        high["row"] = options["row_height"]
        return {"selection": {"rows": []}}

    monkeypatch.setattr(compare_overview.st, "dataframe", frame)
    monkeypatch.setattr(compare_overview.st, "button", lambda *args, **kwargs: None)
    rows = copied(0.383, 0.117, 0.067)
    run = SimpleNamespace(id="r-1", title="Filter", method="filter", name="", kept=60)
    drawn = SimpleNamespace(number=3, promise="nothing proven")
    monkeypatch.setattr(compare_overview, "method_name", lambda run: "Filter")
    monkeypatch.setattr(compare_overview.rests, "first", lambda rows, name: "")
    compare_overview.draw(
        {"r-1": run}, {"r-1": drawn}, {"r-1": rows}, {"privacy": "verbatim_8gram_excess"}, {}, {}, {}, {}
    )  # type: ignore[arg-type]
    assert high["row"] == 64 + 2 * 20, "five lines"
