"""The words of measures: read from a file, refused where an entry is odd."""

from __future__ import annotations

import pytest

from engine.errors import InternalError
from engine.examine.measures import FILE, MEASURES, read_measures

WHOLE = """- name: a
  title: A
  measure: share of something
  direction: lower is safer
  group: privacy
  topic: copies
  scale: share
  means: Something.
  caveat: Something else.
  source: Somebody 2020, section 1
"""


def test_the_file_is_read_whole_and_in_its_order():
    assert list(MEASURES) == list(read_measures(FILE.read_text("utf-8")))
    assert next(iter(MEASURES)) == "strict_pipp"
    assert len(MEASURES) > 100
    for name, measure in MEASURES.items():
        assert measure.name == name
        assert not measure.title.endswith(".")
        assert measure.means.endswith((".", "?"))
        assert measure.caveat.endswith((".", "?"))


def test_the_short_forms_are_written_out():
    found = read_measures(f"{WHOLE}- excess_of: a\n- {{attack: b, title: B, means: Told., source: Else 2021}}\n")
    assert list(found) == ["a", "a_excess", "b", "b_tpr01"]
    assert found["a_excess"].measure.startswith("share of something; training part minus holdout")
    assert found["a_excess"].scale == "share"
    assert (found["b"].scale, found["b_tpr01"].scale) == ("score", "share")
    assert found["b_tpr01"].title == "B: recognised at 1% false alarms"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (WHOLE + WHOLE, "stands there twice"),
        (WHOLE.replace("  title: A\n", ""), "title"),
        (WHOLE + "  colour: red\n", "colour"),
        (WHOLE.replace("Something.", "12"), "means"),
        (WHOLE.replace("lower is safer", "up"), "direction"),
        (WHOLE.replace("scale: share", "scale: furlong"), "scale"),
        (WHOLE.replace("topic: copies", "topic: weather"), "topic"),
        (WHOLE + "- excess_of: z\n", "above it"),
        (WHOLE + "- {excess_of: a, title: Other}\n", "alone"),
        ("- {attack: b, title: B, means: Told.}\n", "source"),
    ],
)
def test_an_odd_entry_is_refused(text, told):
    with pytest.raises(InternalError, match=told):
        read_measures(text)
