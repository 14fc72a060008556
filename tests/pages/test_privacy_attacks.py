"""The privacy page with attacks: verdict, proof and attack, membership, people, groups, two runs beside each other."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from engine.analysis import roc
from engine.dp.guarantee import Guarantee

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
    seeded.open()._save_tables(run or seeded.run, found)


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
    from engine.dp.closed_form import noise_multiplier
    from engine.dp.events import Event
    from engine.store.schema import runs

    event = Event("gaussian", "a count", noise_multiplier=noise_multiplier(epsilon, 1e-5)).as_dict()
    claim = Guarantee("dp", "A claim.", "the run's complete output", epsilon, 1e-5, "record", "add or remove a record",
                      (event,))  # fmt: skip
    workspace = seeded.open()
    with workspace.db.write() as connection:
        connection.execute(runs.update().where(runs.c.id == run).values(guarantee=claim.as_dict()))


def test_older_examinations_are_told_apart_and_can_be_repeated(seeded, visit):
    workspace = seeded.open()
    for name in ("attacks", "roc"):
        (workspace.folder.run(seeded.run) / f"{name}.parquet").unlink(missing_ok=True)
    from engine.store.schema import findings

    with workspace.db.write() as connection:
        rows = connection.execute(findings.select().where(findings.c.run_id == seeded.run)).all()
        new = [row.position for row in rows if row.body["name"] == "blind"]
        connection.execute(findings.delete().where(findings.c.run_id == seeded.run, findings.c.position.in_(new)))
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.view": "Membership"})
    assert "not measured in this examination" in words(app, "markdown")
    assert "examine it again" in words(app, "caption")
    app.button(key=f"privacy.examine_new.{seeded.run}").click().run()
    assert [job.run_id for job in workspace.jobs() if job.kind == "examine"] == [seeded.run]


def test_a_leak_is_said_in_words_and_drawn(seeded, visit, found):
    save(seeded, found)
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.view": "Membership"})
    verdict = words(app.container(key="privacy.verdict"), "markdown")
    assert "**more than chance**\\] · Membership: 1 of 2 attacks can tell" in verdict.replace("]", "\\]")
    assert "“Word sequences”" in verdict
    shown = words(app, "markdown")
    assert "only attacks speak" in shown
    table = app.dataframe[0].value.set_index("Attack")
    assert list(table.index) == ["Word sequences", "Nearest texts", "Style"]
    assert table.loc["Style", "Judgement"].startswith("greyed")
    assert table.loc["Word sequences", "Judgement"] == "more than chance"
    assert table.loc["Word sequences", "Found at 0.1 %"] == "not estimable"
    assert "greyed" in words(app, "caption")


def test_a_proof_is_drawn_and_an_attack_that_passes_it_is_called_out(seeded, visit, found):
    save(seeded, found)
    promise(seeded, seeded.run, 8.0)
    app = visit("privacy", **{"_ui.run": seeded.run})
    assert "Proven: at 1 % false alarms no attack finds more than" in words(app, "markdown")
    assert ":blue[:material/verified_user: **proof**]" in words(app.container(key="privacy.verdict"), "markdown")
    promise(seeded, seeded.run, 0.05)
    app = visit("privacy", **{"_ui.run": seeded.run})
    assert "proof contradicted" in words(app.container(key="privacy.verdict"), "markdown")
    assert "passed what is proven" in words(app, "markdown")


def test_curves_of_claim_and_attack_on_one_chart(seeded, visit, found):
    save(seeded, found)
    promise(seeded, seeded.run, 8.0)
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.chart": "ε–δ curves"})
    options = app.multiselect(key="privacy.curves.shown").value
    assert options == ["claimed, of the whole text", "clearest attack of this examination"]
    assert "δ at ε = ln 1.2" in words(app, "markdown")


def test_two_runs_stand_side_by_side(seeded, visit, found):
    save(seeded, found)
    save(seeded, tables(attack("ngram", "Word sequences", 0.0)), seeded.other)
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.beside": seeded.other, "privacy.view": "Membership"})
    verdict = words(app.container(key="privacy.verdict"), "markdown")
    assert verdict.count("Membership:") == 2
    assert "**A · Three-stage filter**" in verdict
    assert "**B · Surrogate replacement**" in verdict
    assert len(app.get("plotly_chart")) == 6  # proof, areas, ROC: two of each


def test_people_at_risk(seeded, visit, found):
    save(seeded, found | units())
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.view": "People at risk"})
    assert "**30 records** flagged by something" in words(app, "markdown")
    assert "the clearest about 78 more" in words(app, "markdown")
    table = app.dataframe[0].value
    assert table.iloc[0]["Flagged by"] == "Word sequences, Nearest texts, eight of their words copied"
    flags = app.dataframe[1].value.set_index("Attack")
    assert flags.loc["Nearest texts", "Flagged"] == "too few others"


def test_small_groups_have_no_number(seeded, visit, found):
    save(seeded, found | groups())
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.view": "Groups"})
    table = app.dataframe[0].value.set_index("Group")
    assert list(table.loc["surgery"]) == ["too few", "under 20", "under 20", "under 20"]
    assert table.loc["cardiology", "Area (AUC)"] == "0.710 (0.660 to 0.760)"
    assert "sees more than chance in: cardiology" in words(app, "markdown")


def test_studies_that_are_missing_are_offered(seeded, visit):
    app = visit("privacy", **{"_ui.run": seeded.run, "privacy.view": "Canaries and audit"})
    known = {spec.id for spec in seeded.open().studies()}
    offered = [b for b in app.button if str(b.key).startswith("privacy.study.canary-audit")]
    assert bool(offered) is ("canary-audit" in known)
