"""The studies view: nothing yet, a finished study with figures and table, and a study that is asked for."""

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

import engine
from engine.store import queue
from engine.store.records import write_table
from engine.studies.figures import figures
from engine.studies.task import study_folder
from pages._ui.studies import table as study_table
from pages._ui.studies import view as study_view
from pages._ui.studies.table import wide

MEASURES = ("identifier_leakage", "canary_leakage", "canary_parts", "canary_words", "perplexity", "js_1gram",
            "js_2gram", "js_3gram", "words", "placeholders_per_100_words", "semantic_similarity")  # fmt: skip


def tables():
    """Three configurations with numbers chosen by hand: baseline leaks, all does not."""
    values = {"baseline": 0.4, "all": 0.0, "strict": 0.1, "reference": 0.2}
    rows = [
        (v, m, x, x, x + 0.1, 100)
        for v, x in values.items()
        for m in MEASURES
        if not (v == "reference" and "leak" in m)
    ]
    summary = pd.DataFrame(rows, columns=["variant", "measure", "value", "low", "high", "n"])
    likeness = pd.DataFrame({"variant": ["baseline"] * 3 + ["all"] * 3, "value": [0.7, 0.8, 0.9, 0.4, 0.5, 0.6]})
    return {"summary": summary, "similarity": likeness}


def add_study(workspace, corpus_id, state="done"):
    arguments = {"study": "filter-presets", "parameters": {"records": 100}, "model": "builtin", "seed": 0}
    with workspace.session.db.write() as connection:
        job = queue.enqueue(connection, "study", corpus_id=corpus_id, arguments=arguments)
        from sqlalchemy import update

        from engine.store.database.schema import jobs

        cursor = {"step": 3, "state": {}, "done": 3, "total": 8}
        connection.execute(update(jobs).where(jobs.c.id == job).values(state=state, cursor=cursor))
    for name, frame in tables().items():
        write_table(study_folder(workspace.session, corpus_id, job) / "3" / f"{name}.parquet", frame)
    return job


def test_every_figure_says_what_it_draws():
    made = dict(figures("filter-presets", tables()))
    assert list(made) == ["leakage", "similarity", "apart", "perplexity", "divergence", "statistics", "tradeoff"]
    assert "Baseline (40% of outputs)" in made["leakage"].takeaway
    assert "All Filters" in made["leakage"].takeaway
    assert "up to 10.0% of outputs" in made["leakage"].caveat
    assert "Baseline (median 0.80)" in made["similarity"].takeaway
    assert "All Filters (0.50)" in made["similarity"].takeaway
    assert "Perplexity: Baseline above All Filters" in made["apart"].takeaway
    assert figures("filter-presets", {}) == []
    assert figures("another", tables()) == []


def test_configurations_that_wrote_the_same_are_called_one_result():
    marks = {"baseline": "abc", "all": "xyz", "adaptive": "xyz"}
    rows = [(i, mark, variant) for variant, text in marks.items() for i, mark in enumerate(text)]
    written = pd.DataFrame(rows, columns=["record", "mark", "variant"])
    made = dict(figures("filter-presets", {**tables(), "written": written}))
    assert list(made)[2] == "differences"
    assert made["differences"].takeaway.startswith("All Filters and Adaptive wrote the same text for every record")
    assert made["differences"].plot.data[0].z[0].tolist() == [0.0, 1.0, 1.0]
    other = written.assign(mark=[*"abc", *"xyz", *"xyw"])
    said = dict(figures("filter-presets", {**tables(), "written": other}))["differences"].takeaway
    assert said.endswith("least of all All Filters and Adaptive, in 33% of records.")


def test_the_table_has_a_row_a_measure_and_a_column_a_variant():
    found = wide(tables()["summary"])
    assert list(found.columns) == ["Baseline", "All", "Strict", "Reference"]
    assert found.loc["Planted identifiers", "Baseline"] == "40% [40%, 50%]"
    assert found.loc["Perplexity", "All"] == "0.00 [0.00, 0.10]"
    assert found.loc["Planted identifiers", "Reference"] == ""


def test_the_papers_tables_are_named_by_what_they_hold():
    def page():
        from pages._ui.studies import table as study_table
        from tests.studies.test_control_figures import made

        study_table.draw({name: frame for name, frame in made().items() if len(frame)}, "hand")

    app = AppTest.from_function(page).run(timeout=60)
    assert not app.exception
    labels = [box.label for box in app.expander]
    assert "Table 1: direct identifiers, known" in labels
    assert "Table 4: perplexity and MAUVE" in labels
    first = next(f.value for f in app.dataframe if "rouge_l" in f.value)
    assert set(first.columns) <= set(study_table.headings("table_1"))
    assert all("valid" in f.value and set(f.value) <= set(study_table.headings("validity")) for f in app.dataframe
               if "tried_again" in f.value and "pipp" not in f.value)  # fmt: skip
    assert first["pipp"].tolist()[0] == "30.00 ± 0.00"


@pytest.mark.parametrize("state", ["done", "cancelled"])
def test_a_study_is_drawn_and_marked_internal(seeded, visit, state):
    with_study = seeded.open()
    add_study(with_study, seeded.corpus, state)
    app = visit("compare", **{"compare.view": "Studies"})
    assert any("Internal" in w.value for w in app.warning)
    assert any("40% of outputs" in m.value for m in app.markdown)
    assert len(app.get("plotly_chart")) == 7
    assert bool([b for b in app.button if b.label == "Resume"]) == (state == "cancelled")
    assert any("3 variants of 8" in c.value for c in app.caption) == (state == "cancelled")


def test_a_study_asks_for_a_model_where_there_are_two(seeded, visit):
    """A server on another machine is refused without the custodian's consent, and one that cannot be trained."""
    workspace = seeded.open()
    app = visit("compare", **{"compare.view": "Studies"})
    assert not [s for s in app.selectbox if s.key == study_view.MODEL]
    workspace.models.add_endpoint({"name": "far", "url": "https://models.example.com/v1", "model": "big"})
    app = visit("compare", **{"compare.view": "Studies"})
    assert app.selectbox(key=study_view.MODEL).value == "builtin"
    assert not app.button(key="study.start.filter-presets").disabled
    app.selectbox(key=study_view.MODEL).set_value("endpoint:far").run()
    assert any("no written consent" in e.value for e in app.error)
    assert app.button(key="study.start.filter-presets").disabled
    with pytest.raises(engine.UserError, match="no written consent"):
        workspace.studies.start(seeded.corpus, "filter-presets", model="endpoint:far")
    workspace.models.give_consent(seeded.corpus, "far", "The board agreed on 3 May.", "models.example.com:443")
    app.run()
    assert not app.button(key="study.start.filter-presets").disabled
    app.selectbox(key="study.which").set_value("control-codes").run()
    assert any("can be trained" in e.value for e in app.error)
    assert app.button(key="study.start.control-codes").disabled
    app.selectbox(key="study.which").set_value("filter-presets").run()
    app.button(key="study.start.filter-presets").click().run()
    assert not app.exception
    run = workspace.studies.runs(seeded.corpus)[0]
    assert (run.model, run.prompts) == ("endpoint:far", workspace.prompts.version())


def test_a_study_is_started_from_the_page(seeded, visit):
    app = visit("compare", **{"compare.view": "Studies"})
    assert any("No study has been run" in i.value for i in app.info)
    next(b for b in app.button if b.label == "Start the study").click().run()
    assert not app.exception
    workspace = engine.open_workspace(seeded.path)
    assert [(r.study, r.state) for r in workspace.studies.runs(seeded.corpus)] == [("filter-presets", "queued")]


@pytest.mark.parametrize(
    ("study", "size", "few"),
    [("repeats", "outputs", 50), ("epsilon-sweep", "outputs", 50), ("evolution-ablation", "outputs", 50),
     ("rpsg-grid", "sizes", "50")],
)  # fmt: skip
def test_what_a_small_corpus_cannot_carry_is_said_before_the_start(seeded, visit, study, size, few):
    app = visit("compare", **{"compare.view": "Studies"})
    app.selectbox(key="study.which").set_value(study).run()
    assert not app.exception
    assert any("no guarantee covers them" in m.value for m in app.markdown)
    app.text_area(key=f"study.settings.{study}.measures").set_value("js_2gram").run()
    assert not app.button(key=f"study.start.{study}").disabled
    key = f"study.settings.{study}.{size}"
    (app.number_input(key=key) if size == "outputs" else app.text_area(key=key)).set_value(few)
    app.text_area(key=f"study.settings.{study}.measures").set_value("mauve").run()
    assert any("100 texts a side" in e.value for e in app.error)
    assert app.button(key=f"study.start.{study}").disabled
    with pytest.raises(engine.UserError, match="100 texts a side"):
        seeded.open().studies.start(seeded.corpus, study, {"measures": "mauve", size: few})
    app.text_area(key=f"study.settings.{study}.measures").set_value("shouting").run()
    assert not app.exception
    assert any("is no measure of a study" in e.value for e in app.error)


def test_measures_of_a_table_are_called_by_their_titles():
    from tests.studies.bench_world import rows

    table = wide(rows("a", "kid", [0.2]))
    assert list(table.index) == ["KID"]


@pytest.mark.parametrize(
    ("study", "fields"),
    [
        ("epsilon-sweep", {"endless": "Without noise", "public": "Public text", "epsilons": "Epsilons"}),
        ("evolution-ablation", {"epsilon": "Epsilon", "each_round": "Measures each round"}),
        ("control-codes", {"epsilon": "ε of dp-finetune", "identifiers": "What counts as private"}),
        ("canary-audit", {"kind": "Kind of canary"}),
        ("ngram-curves", {"words": "Forms or lemmas of words", "rounds": "N-grams an adversary sees"}),
    ],
)
def test_a_studys_field_is_called_by_its_own_title(seeded, visit, study, fields):
    """Methods have parameters of the same names that mean something else."""
    app = visit("compare", **{"compare.view": "Studies"})
    app.selectbox(key="study.which").set_value(study).run()
    drawn = {w.key: w.label for kind in ("text_area", "text_input", "number_input", "selectbox", "toggle")
             for w in getattr(app, kind)}  # fmt: skip
    for name, title in fields.items():
        assert drawn[f"study.settings.{study}.{name}"] == title
