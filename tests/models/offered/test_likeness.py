"""Whether a model knows such text, by the public description alone."""

from __future__ import annotations

import pytest

from engine.corpus.description import Description
from engine.errors import UserError
from engine.models.offered.likeness import HOLDS, NEAR, known_kinds, unlike_built_in, unlike_texts


def test_the_built_in_model_tells_what_it_learned_from():
    kinds = known_kinds()
    assert len(kinds) >= 5
    for kind in kinds:
        assert unlike_built_in(Description(kind)) == ""


def test_every_kind_is_known_by_what_it_holds_and_by_a_name_the_model_has():
    """A sentence alone is of no kind: nobody calls a corpus so and means something else."""
    assert set(HOLDS) == set(known_kinds()) - {"sentence"}
    for kind in HOLDS:
        assert Description.checked(kind).kind == kind


@pytest.mark.parametrize(
    ("description", "words"),
    [
        (Description("cooking recipe"), "has not learned from text called “cooking recipe”"),
        (Description("clinic letter", "et"), "writes English alone; this corpus is declared to be Estonian"),
        (Description("football match report"), "Expect outputs about something else"),
        (Description("clinic letters"), ""),
        (Description("adverse event report after vaccination"), "but from such as it calls “narrative”. Declare"),
        (Description("vehicle accident"), "“short report”"),
        (Description("judgment"), "“court opinion” or “court decision”"),
    ],
)
def test_unlike_kinds_and_languages_are_said(description, words):
    said = unlike_built_in(description)
    assert words in said
    assert bool(said) == bool(words)


def test_texts_decide_by_their_mean_cosine():
    assert unlike_texts("m", "letter", NEAR) == ""
    assert "0.03" in unlike_texts("m", "letter", 0.03)


@pytest.mark.parametrize(
    "kind", ["", "ab", "letter 12", "Anna's letter of 3 May 2021", "x" * 41, "a\nb" * 30, "mail@example", "![x](y)"]
)
def test_a_description_is_a_few_words_and_no_number(kind):
    with pytest.raises(UserError, match="kind"):
        Description.checked(kind)


def test_what_is_asked_names_the_language():
    assert Description.checked("  discharge   letter ").asked == "discharge letter"
    assert Description.checked("epikriis", "et", "clinical").asked == "epikriis, in Estonian"
    with pytest.raises(UserError, match="language"):
        Description.checked("letter", "xx")
    with pytest.raises(UserError, match="domain"):
        Description.checked("letter", "en", "war")
