"""What a run kept out of its texts, on the Run page: counts, the words let through with their reason, or nothing."""

from sqlalchemy import update

from engine.store.database.schema import runs
from pages._ui.runs.blocked import REASONS, let_through

NOTED = {
    "blocked_values": 41,
    "exempt_values": {"everyday words": 3, "function words alone": 1},
    "exempt_words": {"everyday words": {"mother": 2, "three years": 1}, "function words alone": {"an": 5}},
}


def test_the_words_met_most_often_come_first_with_their_reason():
    found = let_through(NOTED)
    assert found["Value"].tolist() == ["an", "mother", "three years"]
    assert found["Why it was let through"].tolist() == [
        REASONS["function words alone"],
        REASONS["everyday words"],
        REASONS["everyday words"],
    ]
    assert let_through({}).empty


def shown(seeded, visit, noted):
    """Return the Run page of a run with these diagnostics."""
    workspace = seeded.open()
    with workspace.session.db.write() as connection:
        connection.execute(update(runs).where(runs.c.id == seeded.run).values(diagnostics=noted))
    return visit("run", **{"run.choice": seeded.run})


def test_the_run_page_says_what_was_blocked_and_let_through(seeded, visit):
    app = shown(seeded, visit, NOTED)
    assert any("41 forms" in m.value and "4 values were let through" in m.value for m in app.markdown)
    tables = [frame.value for frame in app.dataframe]
    assert any("mother" in table.get("Value", []).tolist() for table in tables if "Value" in table)


def test_the_run_page_says_nothing_where_nothing_is_blocked(seeded, visit):
    app = shown(seeded, visit, {"blocked_values": 0, "exempt_values": {}})
    assert not any("Values kept out" in s.value for s in app.subheader)
