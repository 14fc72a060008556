"""The interface in German: the translated pages are, whole; values stay harmless; switching loses nothing."""

from __future__ import annotations

import re

import pytest
from streamlit.testing.v1 import AppTest

import engine
from engine.errors import UserError
from pages._ui.language import choice, words
from pages._ui.language.catalogue import Catalogue, catalogue
from pages._ui.states import NOTICES
from pages._ui.texts import count_of, number, plain, share, when
from tests.pages.german import german, left_in_english, said
from tests.pages.small import as_csv, rows

HOSTILE = "![x](http://evil.example/a.png) <script>x()</script> **a** {name} {n.__class__} [b](//evil.example)"


@pytest.fixture
def speak(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let sentences be made outside a page, in German."""
    monkeypatch.setattr(words, "active", german)


def in_german(path) -> engine.Workspace:
    workspace = engine.open_workspace(path)
    workspace.settings.set_language("de")
    return workspace


class TestLoad:
    def test_is_german_from_the_empty_page_to_the_corpus(self, empty, visit):
        workspace = in_german(empty)
        app: AppTest = visit("load")
        assert app.title[0].value == "Laden"
        assert left_in_english(app) == []
        app.file_uploader(key="load.file.0").upload("tickets.csv", as_csv(rows())).run()
        assert (
            app.selectbox(key=next(s.key for s in app.selectbox if s.key.startswith("load.map.text"))).label == "Text"
        )
        assert left_in_english(app, allowed=(choice_of_person(app),)) == []
        assert "Etwa **4** von 19 Personen. Das ist zu wenig, um durch Messen" in "\n".join(said(app))
        app.button(key="load.import").click().run()
        assert not app.exception
        (corpus,) = workspace.corpora.all()
        assert corpus.name == "tickets"
        assert "81 Datensätze" in "\n".join(said(app))
        assert app.radio(key="load.view").options == ["Datei laden", "Was geladen wurde"]
        assert app.radio(key="load.view").value == "What was loaded"
        assert left_in_english(app) == []


def choice_of_person(app: AppTest) -> str:
    """Return the engine's sentence on which column names the person: it stays in English."""
    return next((str(one.value) for one in app.caption if "Prüfen Sie, ob das stimmt" in str(one.value)), "-")


def sure(app: AppTest) -> None:
    """Answer yes where the page asks before a record of high risk is approved."""
    for one in [one for one in app.button if (one.key or "").startswith("release.sure.")]:
        one.click().run()


class TestRelease:
    def test_is_german_and_decides_in_it(self, seeded, visit):
        workspace = in_german(seeded.path)
        app: AppTest = visit("release", **{"_ui.run": seeded.run, "release.policy.choice": "public",
                                         f"release.folded.{seeded.run}": True})  # fmt: skip
        assert app.title[0].value == "Freigabe"
        assert left_in_english(app) == []
        shown = "\n".join(said(app))
        assert "Das Tor ist geschlossen" in shown
        assert "nicht erfüllt" in shown
        approve = next(one for one in app.button if (one.key or "").startswith("release.approved."))
        assert approve.label == "Genehmigen"
        approve.click().run()
        assert left_in_english(app) == []
        sure(app)
        assert not app.exception
        assert workspace.runs.approval_counts(seeded.run)["approved"] == 1
        assert left_in_english(app) == []

    def test_opens_its_question_and_releases(self, seeded, visit):
        workspace = in_german(seeded.path)
        app: AppTest = visit("release", **{"_ui.run": seeded.run, "release.policy.choice": "exploratory"})
        next(one for one in app.button if (one.key or "").startswith("release.approved.")).click().run()
        sure(app)
        app.button(key="release.build").click().run()
        assert not app.exception
        assert left_in_english(app) == []
        app.button(key="release.build.sure").click().run()
        assert not app.exception
        (made,) = workspace.releases.all(seeded.corpus)
        assert made.records == 1
        assert "1 Datensatz freigegeben" in "\n".join(said(app))
        assert left_in_english(app) == []


class TestPlan:
    def test_is_german_and_starts_a_run(self, small, open_page):
        in_german(small.path)
        app: AppTest = open_page("plan", **{"plan.method": "filter"})
        assert app.title[0].value == "Plan"
        assert left_in_english(app) == []
        assert "Wer wird den Text bekommen?" in [one.label for one in app.selectbox]
        assert app.button(key="plan.start").label.startswith("Starten: ")
        app.button(key="plan.start").click().run()
        assert not app.exception
        (run,) = small.open().runs.all(small.corpus)
        assert (run.method, run.state) == ("filter", "queued")

    def test_a_proof_is_told_in_german(self, small, open_page):
        in_german(small.path)
        app: AppTest = open_page("plan", **{"plan.method": "dp-topics"})
        assert left_in_english(app) == []
        sure = next(one.label for one in app.slider if (one.key or "").startswith("plan.sure."))
        assert sure.startswith("Wie sicher darf höchstens werden, wer sich vor der Freigabe zu 10\u00a0% sicher war?")

    def test_the_same_setting_stands_whatever_language_shows_it(self, small, open_page):
        app: AppTest = open_page("plan", **{"plan.method": "filter"})
        field = f"plan.set.{small.corpus}.filter.temperature"
        app.number_input(key=field).set_value(0.5).run()
        small.open().settings.set_language("de")
        app.run()
        assert app.title[0].value == "Plan"
        assert app.number_input(key=field).label == "Vielfalt des Wortlauts"
        assert app.number_input(key=field).value == 0.5
        small.open().settings.set_language("en")
        app.run()
        assert app.number_input(key=field).label == "Variety of the wording"
        assert app.number_input(key=field).value == 0.5


class TestReview:
    @pytest.mark.parametrize(
        "view",
        ["Text by text", "Value by value", "By type and confidence", "Spot check", "Named people", "Detector settings"],
    )
    def test_each_view_is_german(self, small, open_page, view):
        in_german(small.path)
        app: AppTest = open_page("review", **{"review.view": view})
        assert app.title[0].value == "Sichten"
        assert app.radio(key="review.view").value == view
        assert left_in_english(app) == []

    def test_what_was_not_searched_yet_is_german_and_starts(self, small, open_page):
        in_german(small.path)
        app: AppTest = open_page("review", bare=True)
        assert app.button(key="review.detect.start").label == "Nach Kennungen suchen"
        assert left_in_english(app) == []
        app.button(key="review.detect.start").click().run()
        assert not app.exception
        assert "Suche nach Kennungen" in "\n".join(said(app))
        assert left_in_english(app) == []

    def test_decides_by_type_in_german(self, small, open_page):
        in_german(small.path)
        app: AppTest = open_page("review", **{"review.view": "By type and confidence"})
        assert app.multiselect(key="review.bulk.labels").options[0] == "Personenname"
        app.multiselect(key="review.bulk.labels").select("PERSON").run()
        assert left_in_english(app) == []
        app.button(key="review.bulk.decide").click().run()
        assert not app.exception
        assert "Sie bleib" in "\n".join(said(app))

    def test_the_browser_gets_every_sentence_that_the_desk_says(self, speak):
        from pages._ui.language.script import language, sentences
        from pages._ui.review.desk import _HTML, _SCRIPT

        sent = language(_SCRIPT, _HTML)
        asked = sentences(_SCRIPT, _HTML)
        assert len(asked) > 60
        assert [
            one
            for one in asked
            if (one not in sent["single"] if isinstance(one, str) else one[0] not in sent["plural"])
        ] == []
        assert sent["forms"][:4] == "1011"
        assert set(sent["single"]) & set(german().single) == set(sent["single"])


class TestChoice:
    def test_settings_switches_and_keeps_what_was_typed(self, small, open_page):
        app = open_page("settings")
        assert app.selectbox(key="settings.language").value == "en"
        app.selectbox(key="settings.language").select("de").run()
        assert not app.exception
        assert small.open().settings.language() == "de"
        assert app.selectbox(key="settings.language").label == "Sprache der Oberfläche"
        assert app.title[0].value == "Settings", "a page that is not translated stays English, whole"
        assert "sie ist noch nicht übersetzt" in "\n".join(said(app))
        app.selectbox(key="settings.language").select("en").run()
        assert small.open().settings.language() == "en"
        assert app.selectbox(key="settings.language").label == "Language of the interface"
        lines = small.open().audit.lines(limit=10)
        assert (lines["action"] == "language of the interface chosen").sum() == 2

    @pytest.mark.parametrize("code", ["", "Deutsch", "../de", "de\n", "DE", "x" * 50])
    def test_what_is_no_language_is_refused(self, small, code):
        with pytest.raises(UserError, match="language: must be a code"):
            small.open().settings.set_language(code)

    def test_a_language_without_a_catalogue_is_english(self, small, open_page):
        small.open().settings.set_language("fi")
        assert open_page("load").title[0].value == "Load"

    @pytest.mark.parametrize(
        ("arguments", "environment", "wanted"),
        [
            ([], "", ""),
            ([], "de", "de"),
            (["--language", "de"], "en", "de"),
            (["--workspace", "x", "--language=de"], "", "de"),
            (["--language"], "", ""),
        ],
    )
    def test_the_start_can_name_one(self, arguments, environment, wanted, monkeypatch):
        monkeypatch.setenv(choice.VARIABLE, environment)
        assert choice.at_start(arguments) == wanted

    def test_the_start_is_followed_until_somebody_chooses(self, small, open_page, monkeypatch):
        monkeypatch.setenv(choice.VARIABLE, "de")
        assert open_page("load").title[0].value == "Laden"
        small.open().settings.set_language("en")
        assert open_page("load").title[0].value == "Load"

    def test_the_browsers_language_is_offered_and_nothing_changes_by_itself(self, small, open_page, monkeypatch):
        monkeypatch.setattr("streamlit.runtime.context.ContextProxy.locale", "de-AT")
        app = open_page("load")
        assert app.title[0].value == "Load"
        app.button(key="language.offer.yes").click().run()
        assert app.title[0].value == "Laden"
        assert small.open().settings.language() == "de"
        assert "language.offer.yes" not in {one.key for one in app.button}

    @pytest.mark.parametrize("locale", ["en-US", "fi-FI", "", "../de", None])
    def test_no_other_language_is_offered(self, small, open_page, monkeypatch, locale):
        monkeypatch.setattr("streamlit.runtime.context.ContextProxy.locale", locale)
        assert "language.offer.yes" not in {one.key for one in open_page("load").button}

    def test_an_offer_that_was_declined_does_not_come_again(self, small, open_page, monkeypatch):
        monkeypatch.setattr("streamlit.runtime.context.ContextProxy.locale", "de-DE")
        open_page("load").button(key="language.offer.no").click().run()
        assert small.open().settings.language() == "en"
        assert "language.offer.yes" not in {one.key for one in open_page("load").button}


class TestWords:
    def test_english_is_the_sentence_itself(self):
        assert words.tr("Import") == "Import"
        assert (number(12345), share(0.125), count_of(1, "record"), count_of(2000, "record")) == (
            "12,345", "12.5%", "1 record", "2,000 records",
        )  # fmt: skip

    def test_numbers_percent_and_dates_are_the_languages(self, speak):
        assert number(1234567) == "1.234.567"
        assert number(1234.5) == "1.234,50"
        assert share(0.125) == "12,5\u00a0%"
        assert count_of(1, "record") == "1 Datensatz"
        assert count_of(2000, "record") == "2.000 Datensätze"
        assert when("2026-03-09T12:00:00Z").startswith("9. März 2026")
        assert words.date_pattern() == "DD.MM.YYYY"

    def test_a_value_is_escaped_as_in_english_and_never_read_as_a_sentence(self, speak):
        source = "{name} was imported: {records}."
        assert words.tr(source, name=plain(HOSTILE), records="1") == f"{plain(HOSTILE)} wurde importiert: 1."
        assert words.tr(source, name="{records}", records="{name}") == "{records} wurde importiert: {name}."

    def test_a_corpus_with_a_hostile_name_shows_no_more_than_in_english(self, empty, visit):
        workspace = in_german(empty)
        mapping = engine.ColumnMapping(text="text")
        workspace.corpora.import_file(as_csv(rows()[:30]), "a.csv", mapping, name=HOSTILE)
        app = visit("load", **{"load.view": "What was loaded"})
        shown = [str(one.value) for kind in ("markdown", "subheader", "caption") for one in getattr(app, kind)]
        assert any("evil" in text for text in shown)
        assert not [text for text in shown if re.search(r"(?<!\\)(<script|\]\(|!\[|\*\*a)", text)]
        assert NOTICES not in app.session_state

    def test_a_sentence_that_would_bring_markup_in_is_shown_in_english(self, tmp_path, monkeypatch):
        folder = tmp_path / "de"
        folder.mkdir()
        (folder / "interface.po").write_text(
            'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n\n'
            'msgid "{name} was imported: {records}."\nmsgstr "[{name}](http://evil.example): {records}"\n\n'
            'msgid "Import"\nmsgstr "Importieren"\n',
            "utf-8",
        )
        monkeypatch.setattr("pages._ui.language.catalogue.FOLDER", tmp_path)
        there = catalogue("de")
        assert isinstance(there, Catalogue)
        assert there.single == {"Import": "Importieren"}
        assert [source for source, _ in there.refused] == ["{name} was imported: {records}."]

    def test_a_catalogue_is_read_once_and_again_when_its_file_changes(self, tmp_path, monkeypatch):
        folder = tmp_path / "de"
        folder.mkdir()
        head = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=utf-8\\n"\n\nmsgid "Import"\n'
        monkeypatch.setattr("pages._ui.language.catalogue.FOLDER", tmp_path)
        (folder / "interface.po").write_text(head + 'msgstr "Eins"\n', "utf-8")
        first = catalogue("de")
        assert first is catalogue("de")
        (folder / "interface.po").write_text(head + 'msgstr "Zwei"\n', "utf-8")
        assert catalogue("de").single == {"Import": "Zwei"}
        (folder / "interface.po").unlink()
        assert catalogue("de") is None
