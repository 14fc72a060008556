"""The privacy page with attacks: verdict, proof and attack, membership, people, groups, two runs beside each other."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from engine.dp.guarantee import Guarantee
from engine.examine.stats import roc
from engine.studies import get_study
from pages._ui.privacy import chart as privacy_chart
from pages._ui.privacy import studies as privacy_studies
from tests.pages.small import verdict_lines
from tests.studies import rerun_world

RNG_SEED = 3


def words(app, *kinds: str) -> str:
    return "\n".join(str(e.value) for kind in kinds for e in getattr(app, kind))


def attack(name: str, title: str, shift: float, *, greyed: bool = False, size: int = 1200) -> dict[str, pd.DataFrame]:
    """Return the tables of an attack on simulated scores; members score `shift` higher."""
    rng = np.random.default_rng([RNG_SEED, sum(name.encode())])
    members, others = rng.normal(shift, 1, size), rng.normal(0, 1, size)
    area = roc.auc(members, others)
    row = {"attack": name, "title": title, "observes": "released text", "auc": area.value, "low": area.low,
           "high": area.high, "p": roc.permutation_p(members, others), "members": size, "others": size,
           "without_duplicates_auc": area.value, "greyed": greyed, "note": ""}  # fmt: skip
    for column, rate in (("tpr_01", 0.01), ("tpr_001", 0.001)):
        found = roc.tpr_at(members, others, rate)
        row |= {column: found.value, f"{column}_low": found.low, f"{column}_high": found.high}
    curve = roc.roc_table(members, others)
    curve.insert(0, "attack", name)
    return {"attacks": pd.DataFrame([row]), "roc": curve}


def tables(*parts: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    return {name: pd.concat([part[name] for part in parts], ignore_index=True) for name in parts[0]}


@pytest.fixture(scope="module")
def found() -> dict[str, pd.DataFrame]:
    return tables(
        attack("ngram", "Word sequences", 1.0),
        attack("nearest", "Nearest texts", 0.0),
        attack("style", "Style", 0.6, greyed=True),
    )


def save(seeded, found: dict[str, pd.DataFrame], run: str | None = None) -> None:
    seeded.open().examinations.save_tables(run or seeded.run, found)


def units() -> dict[str, pd.DataFrame]:
    table = pd.DataFrame(
        {"unit": [f"r-{i}" for i in range(30)], "record_id": [f"r-{i}" for i in range(30)], "records": 1,
         "flags": [3] + [1] * 29, "flagged_by": ["ngram|nearest|copied words"] + ["ngram"] * 29, "p": 0.001,
         "percentile": 0.999, "synthetic": ["s-000001"] + [None] * 29}
    )  # fmt: skip
    counts = pd.DataFrame(
        {"attack": ["ngram", "nearest", "copied words"], "units": 1200, "flagged": [90.0, np.nan, 1.0],
         "expected": [12.0, np.nan, 0.0], "others": [1200, 60, 60]}
    )  # fmt: skip
    return {"units": table, "unit_flags": counts}


def groups() -> dict[str, pd.DataFrame]:
    return {
        "groups": pd.DataFrame(
            {"group_by": "label", "group": ["cardiology", "surgery"], "attack": "ngram", "auc": [0.71, np.nan],
             "low": [0.66, np.nan], "high": [0.76, np.nan], "members": [500, -1], "others": [400, -1],
             "units": [500, -1], "other_units": [400, -1], "greyed": False}
        )
    }  # fmt: skip


def promise(seeded, run: str, epsilon: float = 1.0) -> None:
    """Give a run a Gaussian claim whose events match it."""
    from engine.dp.accounting.closed_form import noise_multiplier
    from engine.dp.events import Event
    from engine.store.database.schema import runs

    event = Event("gaussian", "a count", noise_multiplier=noise_multiplier(epsilon, 1e-5)).as_dict()
    claim = Guarantee("dp", "A claim.", "the run's complete output", epsilon, 1e-5, "record", "add or remove a record",
                      (event,))  # fmt: skip
    workspace = seeded.open()
    with workspace.session.db.write() as connection:
        connection.execute(runs.update().where(runs.c.id == run).values(guarantee=claim.as_dict()))


def test_older_examinations_are_told_apart_and_can_be_repeated(seeded, visit):
    workspace = seeded.open()
    for name in ("attacks", "roc"):
        (workspace.folder.run(seeded.run) / f"{name}.parquet").unlink(missing_ok=True)
    from engine.store.database.schema import findings

    with workspace.session.db.write() as connection:
        rows = connection.execute(findings.select().where(findings.c.run_id == seeded.run)).all()
        new = [row.position for row in rows if row.body["name"] == "blind"]
        connection.execute(findings.delete().where(findings.c.run_id == seeded.run, findings.c.position.in_(new)))
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.view": "Membership"})
    assert "not measured in this examination" in words(app, "markdown")
    assert "examine it again" in words(app, "caption")
    app.button(key=f"privacy.examine_new.{seeded.run}").click().run()
    assert [job.run_id for job in workspace.jobs.all() if job.kind == "examine"] == [seeded.run]


def test_a_leak_is_said_in_words_and_drawn(seeded, visit, found):
    save(seeded, found)
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.view": "Membership"})
    verdict = "\n".join(verdict_lines(app.container(key="privacy.verdict")))
    assert "**leak**\\] · Membership: 1 of 2 attacks can tell" in verdict.replace("]", "\\]")
    assert "“The text makes its phrases likely”" in verdict
    table = app.dataframe[0].value.set_index("Attack")
    assert list(table.index) == ["The text makes its phrases likely", "Nearest texts", "Style"]
    assert list(table["Name in the field"]) == ["Word sequences", "Nearest texts", "Style"]
    assert "Name in the field" not in words(app, "markdown"), "what is read first is in plain words"
    areas = app.get("plotly_chart")[0].proto.spec
    assert "Word sequences" in areas, "where the pointer rests"
    assert table.loc["Style", "Judgement"].startswith("greyed")
    assert table.loc["The text makes its phrases likely", "Judgement"] == "leak"
    assert table.loc["The text makes its phrases likely", "Found at 0.1%"] == "not estimable"
    assert "greyed" in words(app, "caption")
    first = visit("privacy", **{"_ui.run": seeded.run})
    assert first.radio(key="privacy.view").value == "Leaks", "nothing is proven, so what leaks comes first"
    drawn = visit("privacy", **{"_ui.run": seeded.run, "privacy.view": "Proof and attacks"})
    assert "only attacks speak" in words(drawn, "markdown")


def test_a_proof_is_drawn_and_an_attack_that_passes_it_is_called_out(seeded, visit, found):
    save(seeded, found)
    promise(seeded, seeded.run, 8.0)
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.view": "Proof and attacks"})
    assert "Proven: at 1% false alarms no attack finds more than" in words(app, "markdown")
    assert ":blue[:material/verified_user: **proof**]" in words(app.container(key="privacy.verdict"), "markdown")
    promise(seeded, seeded.run, 0.05)
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.view": "Proof and attacks"})
    assert "proof contradicted" in words(app.container(key="privacy.verdict"), "markdown")
    assert "passed what is proven" in words(app, "markdown")


def test_public_text_is_held_against_chance(seeded, visit, found):
    from engine.store.database.schema import runs

    save(seeded, tables(attack("ngram", "Word sequences", 0.0)))
    claim = Guarantee("dp", "No private record was read.", "the run's complete output", 0.0, 0.0)
    with seeded.open().session.db.write() as connection:
        connection.execute(runs.update().where(runs.c.id == seeded.run).values(guarantee=claim.as_dict()))
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.view": "Proof and attacks"})
    assert "no private record went in (ε = 0), so every attack must stay at chance" in words(app, "markdown")
    assert "about every record and every attacker" in words(app, "caption")
    assert "ε = 0. No private record" in words(app.container(key="privacy.verdict"), "markdown")
    visit("privacy", **{"_ui.run": seeded.run, "privacy.view": "Proof and attacks", "privacy.chart": "ε–δ curves"})


def test_curves_of_claim_and_attack_on_one_chart(seeded, visit, found):
    save(seeded, found)
    promise(seeded, seeded.run, 8.0)
    app = visit(
        "privacy", **{"_ui.run": seeded.run, "privacy.view": "Proof and attacks", "privacy.chart": "ε–δ curves"}
    )
    options = app.multiselect(key="privacy.curves.shown").value
    assert options == ["claimed, of the whole text", "clearest attack, as far as it shows anything"]
    assert "At ε = ln 1.2, where odds move by a fifth, δ is: claimed" in words(app, "markdown")


def test_two_runs_stand_side_by_side(seeded, visit, found):
    save(seeded, found)
    save(seeded, tables(attack("ngram", "Word sequences", 0.0)), seeded.other)
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.beside": seeded.other, "privacy.view": "Membership"})
    box = app.container(key="privacy.verdict")
    verdict = words(box, "markdown")
    assert sum("· Membership:" in line for line in verdict_lines(box)) == 2
    assert "**A · Write anew, then filter**" in verdict
    assert "**B · Replace what identifies**" in verdict
    assert len(app.get("plotly_chart")) == 4  # areas, ROC: two of each
    beside = {"_ui.run": seeded.run, "privacy.beside": seeded.other, "privacy.view": "Proof and attacks"}
    assert len(visit("privacy", **beside).get("plotly_chart")) == 2  # proof, two of it


def test_people_at_risk(seeded, visit, found):
    save(seeded, found | units())
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.view": "People at risk"})
    assert "**30 records** are flagged by something" in words(app, "markdown")
    assert "the clearest 78 more" in words(app, "markdown")
    table = app.dataframe[0].value
    assert table.iloc[0]["Flagged by"] == ("eight of their words copied, the text makes its phrases likely and 1 more")
    flags = app.dataframe[1].value.set_index("Attack")
    assert flags.loc["Nearest texts", "Flagged"] == "too few others"
    assert flags.loc["The text makes its phrases likely", "Name in the field"] == "Word sequences"


def test_small_groups_have_no_number(seeded, visit, found):
    save(seeded, found | groups())
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.view": "Groups"})
    table = app.dataframe[0].value.set_index("Group")
    assert list(table.loc["surgery"]) == ["too few (under 20)", "", "", ""]
    assert "People or records" in table.columns
    assert table.loc["cardiology", "Area (AUC)"] == "0.710 (0.660 to 0.760)"
    assert "sees more than chance in: cardiology" in words(app, "markdown")


def add_study(seeded, study: str, tables: dict[str, pd.DataFrame], **parameters: object) -> None:
    """Write a finished study with its tables, the way the worker leaves it."""
    from engine.store.audit import now
    from engine.store.database.schema import jobs
    from engine.store.records import write_table
    from engine.store.session import new_id
    from engine.studies.task import study_folder

    workspace, job, at = seeded.open(), new_id("j"), now()
    arguments = {"study": study, "parameters": parameters, "model": "builtin", "seed": 0}
    cursor = {"step": 1, "state": {}, "done": 3, "total": 3}
    with workspace.session.db.write() as connection:
        connection.execute(
            jobs.insert().values(
                id=job, kind="study", lane="heavy", state="done", stage="done", done=3, total=3, created=at,
                started=at, finished=at, heartbeat=at, sample=[], arguments=arguments, cursor=cursor,
                corpus_id=seeded.corpus,
            )
        )  # fmt: skip
    for name, table in tables.items():
        write_table(study_folder(workspace.session, seeded.corpus, job) / "1" / f"{name}.parquet", table)


def bounds(epsilon: float, verdict: str) -> pd.DataFrame:
    row = {"method": "filter", "bound": "one-run", "title": "One run, guesses declared", "epsilon_lower": epsilon,
           "ceiling": 3.5, "claim": 1.0, "verdict": verdict, "decides": True, "p_value": 0.5, "delta": 1e-3,
           "confidence": 0.95, "canaries": 100, "guesses": 25, "right": 20, "tpr": np.nan, "fpr": np.nan,
           "assumption": "", "source": "Steinke, Nasr and Jagielski 2023"}  # fmt: skip
    return pd.DataFrame([row])


def pair_table() -> pd.DataFrame:
    epsilon = np.geomspace(1e-3, 6, 30)
    frames = [
        pd.DataFrame({"excluded": 10, "set": 0, "n": 1, "kind": kind, "epsilon": epsilon, "delta": scale * 2 / epsilon,
                      "delta_standard": scale / epsilon, "standard_low": scale / epsilon / 2,
                      "standard_high": scale / epsilon * 2, "observed": "one word"})
        for kind, scale in (("direct", 1e-5), ("synthetic pooled", 4e-5), ("null", 5e-5), ("claimed", 1e-4))
    ]  # fmt: skip
    return pd.concat(frames, ignore_index=True)


def test_pair_curves_are_read_by_kind():
    drawn = privacy_studies.pair_curves({"curves": pair_table()})
    assert [curve.kind for curve in drawn.values()] == ["direct", "synthetic", "null"]
    one = drawn["word forms drawn directly from the records"]
    assert one.curve.observed == "one word"
    assert np.allclose(one.curve.delta_standard, 1e-5 / one.curve.epsilon)
    assert one.high is not None
    assert privacy_studies.pair_curves({}) == {}


def test_surprisal_curves_are_read_with_their_control():
    rows = pair_table().query("kind == 'direct'").drop(columns=["kind", "excluded", "set", "n"])
    table = pd.concat(
        [rows.assign(score=score, comparison=side, verdict="shown")
         for score in ("surprisal", "a token") for side in ("main", "control")]
    )  # fmt: skip
    drawn = privacy_studies.surprisal_curves({"curves": table})
    assert [curve.kind for curve in drawn.values()] == ["attack", "single"]
    assert all(len(curve.curve) == 30 for curve in drawn.values())
    assert all(curve.together for curve in drawn.values())
    assert privacy_studies.surprisal_curves({}) == {}
    earlier = table.drop(columns="verdict").assign(form="bins")  # of an edition whose bands did not hold
    assert privacy_studies.surprisal_curves({"curves": earlier}) == {}


def test_studies_join_the_chart(seeded, visit, found):
    save(seeded, found)
    promise(seeded, seeded.run, 8.0)
    add_study(seeded, "pairs", {"curves": pair_table()}, method="filter")
    add_study(seeded, "canary-audit", {"bounds": bounds(0.4, "no violation seen")}, method="filter")
    add_study(seeded, "canary-audit", {"bounds": bounds(3.0, "violation")}, method="surrogate")  # another method's
    app = visit(
        "privacy", **{"_ui.run": seeded.run, "privacy.view": "Proof and attacks", "privacy.chart": "ε–δ curves"}
    )
    shown = words(app, "markdown")
    assert "null: the same data twice, half of the runs" in app.multiselect(key="privacy.curves.shown").value
    assert "The canary audit shows at least ε = 0.4" in shown
    assert "Not measured" not in shown
    assert "proof contradicted" not in shown


def test_an_audit_above_the_claim_contradicts_it(seeded, visit, found):
    save(seeded, found)
    promise(seeded, seeded.run, 8.0)
    add_study(seeded, "canary-audit", {"bounds": bounds(3.0, "violation")}, method="filter")
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.view": "Canaries and audit"})
    assert "“the canary audit of this method” finds more than it allows" in words(app, "markdown")
    assert [chart.key.endswith(".bounds") for chart in app.get("plotly_chart")] == [True]
    proof = visit("privacy", **{"_ui.run": seeded.run, "privacy.view": "Proof and attacks"})
    assert len(proof.get("plotly_chart")) == 1
    first = visit("privacy", **{"_ui.run": seeded.run})
    assert first.radio(key="privacy.view").value == "Leaks", "the first view opens, whatever is proven"


def test_studies_that_are_missing_are_offered(seeded, visit):
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.view": "Canaries and audit"})
    (button,) = [b for b in app.button if str(b.key).startswith("privacy.study.canary-audit")]
    button.click().run()
    assert app.title[0].value == "Compare"
    assert app.selectbox(key="study.which").value == "canary-audit"


def test_what_words_give_away_is_drawn_once_for_the_corpus(seeded, visit):
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.view": "Curves"})
    assert "Not run yet on this corpus." in words(
        app.container(key=f"privacy.offer.ngram-curves.{seeded.run}"), "markdown"
    )
    workspace = seeded.open()
    records = workspace.corpora.records(seeded.corpus, split="train", limit=60)
    study = get_study("ngram-curves")
    made = list(
        study.run(rerun_world.study_context(study, {"n": [1], "trials": 2}, rerun_world.context(records=records)))
    )
    add_study(seeded, "ngram-curves", dict(made[-1].tables), n=[1], trials=2)
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.beside": seeded.other, "privacy.view": "Curves"})
    assert sum(chart.key.startswith("privacy.study.") for chart in app.get("plotly_chart")) == 8
    assert "occur once" in words(app, "markdown")


def test_a_study_of_both_runs_method_is_drawn_beside_itself(seeded, visit):
    from engine.store.database.schema import runs

    with seeded.open().session.db.write() as connection:
        connection.execute(runs.update().where(runs.c.id == seeded.other).values(method="filter"))
    add_study(seeded, "canary-audit", {"bounds": bounds(0.4, "no violation seen")}, method="filter")
    visit("privacy", **{"_ui.run": seeded.run, "privacy.beside": seeded.other, "privacy.view": "Canaries and audit"})


def test_only_attacks_that_can_be_drawn_are_offered(found):
    few = attack("few", "Planted details", 3.0)  # the clearest, with one point of a curve
    few["roc"] = few["roc"].head(1)
    given = tables(found, few)
    side = SimpleNamespace(attacks=given["attacks"], roc=given["roc"])
    assert next(iter(privacy_chart.titles([side]))) == "ngram"  # the clearest of those that are drawn
    assert "few" not in privacy_chart.titles([side])
    whole = tables(found, attack("few", "Planted details", 3.0))
    assert next(iter(privacy_chart.titles([SimpleNamespace(**whole)]))) == "few"
    assert privacy_chart.titles([SimpleNamespace(attacks=None, roc=None)]) == {}


def test_every_attack_that_is_carried_out_has_a_plain_name():
    from engine import MEASURES
    from pages._ui.examined.attack_names import plainly

    known = [name for name in MEASURES if f"{name}_tpr01" in MEASURES]
    known += ["blind", "word_probe", "stylometric", "set_membership", "linked_details"]
    assert len(known) > 20
    said = [plainly(name, "") for name in known]
    assert all(said)
    assert len(set(said)) == len(set(known))
    assert not any(word in one for one in said for word in ("k =", "N-gram", "perplexity", "(", "Min-K"))
    assert plainly("neighbours_jaccard_1", "") == "Nearest text shares its words"
    assert plainly("neighbours_cosine_25", "") == "25 nearest texts are alike in meaning"
    assert plainly("an attack of later", "Its title") == "Its title"


def test_groups_that_are_all_too_small_are_said_once(seeded, visit, found):
    table = groups()
    table["groups"].loc[:, ["auc", "low", "high"]] = float("nan")
    save(seeded, found | table)
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.view": "Groups"})
    assert "Every group is too small" in words(app, "markdown")
    assert not [frame for frame in app.dataframe if "Group" in frame.value]
