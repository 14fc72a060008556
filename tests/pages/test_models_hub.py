"""Fetching a model on the models page: what is consented to, refusals, the queued job, a failure."""

from __future__ import annotations

from sqlalchemy import update

from engine.store.database.schema import jobs

WHY = "Apache licence; agreed by the data board on 3 May."


def words(app, *kinds: str) -> str:
    return "\n".join(str(e.value) for kind in (kinds or ("markdown", "caption")) for e in getattr(app, kind))


def test_a_model_is_asked_for_with_a_reason_and_the_host_typed_out(seeded, visit, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    app = visit("models")
    app.text_input(key="models.hub.model").set_value("not an id").run()
    assert "owner/model" in words(app, "error")
    app.text_input(key="models.hub.model").set_value("someone/Tiny-1").run()
    assert "127.0.0.1:9" in words(app, "warning")
    assert "no record, no prompt and no key" in words(app, "warning")
    assert app.text_input(key="models.hub.name.someone/Tiny-1").value == "tiny-1"
    app.text_area(key="models.hub.text").set_value(WHY)
    app.text_input(key="models.hub.host").set_value("huggingface.co:443").run()
    app.button(key="models.hub.fetch").click().run()
    assert "must be typed as 127.0.0.1:9" in words(app, "error", "warning", "markdown")
    assert seeded.open().hub.consents() == []
    app.text_input(key="models.hub.host").set_value("127.0.0.1:9").run()
    app.button(key="models.hub.fetch").click().run()
    assert not app.exception
    workspace = seeded.open()
    job = next(job for job in workspace.jobs.all() if job.kind == "fetch")
    assert [(one.model, one.text) for one in workspace.hub.consents()] == [("someone/Tiny-1", WHY)]
    assert app.text_input(key="models.hub.model").value == ""
    with workspace.session.db.write() as connection:
        why = "the hub could not be reached"
        connection.execute(update(jobs).where(jobs.c.id == job.id).values(state="failed", error=why))
    app.run()
    assert "was not fetched" in words(app, "error")
    assert why in words(app, "error")
