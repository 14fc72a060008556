"""A run without findings offers another that has them."""

from __future__ import annotations


def test_a_run_with_findings_is_offered_and_shown(seeded, visit, add_run):
    workspace = seeded.open()
    run = add_run(workspace, seeded.corpus, [{"text": "Made up.", "label": None, "lineage": None}])
    app = visit("utility", **{"_ui.run": run})
    (offer,) = [button for button in app.button if str(button.key).startswith("utility.other.")]
    assert any("has findings" in str(one.value) for one in app.markdown)
    offer.click().run()
    assert not app.exception
    assert app.selectbox(key="utility.run").value == str(offer.key).removeprefix("utility.other.")
    assert not [button for button in app.button if str(button.key).startswith("utility.other.")]
    assert app.container(key="utility.verdict").markdown
