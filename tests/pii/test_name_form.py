"""Names compared whole: what is one form, and what is not."""

import pytest

from engine.pii.name_form import name_form


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Mary O'Brien", "MARY O’BRIEN"),  # capitals, another apostrophe
        ("José Müller", "Jose Muller"),  # accents
        ("Dr. Mary O'Brien", "Mary O'Brien's"),  # title, possessive
        ("O'Brien, Mary", "Mary O'Brien"),  # turned round
        ("Professor Mary  O'Brien, MD", "Mary O'Brien"),  # degree, two blanks
        ("Мария", "МАРИЯ"),
        ("王伟", "王 伟"),
    ],
)
def test_one_form(one, other):
    assert name_form(one) == name_form(other) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [("Mary O'Brien", "O'Brien"), ("Mary O'Brien", "M. O'Brien"), ("Jane Smith", "Jane Smyth"), ("Ann Lee", "Lee Ann")],
)
def test_two_forms(one, other):
    assert name_form(one) != name_form(other)


@pytest.mark.parametrize("surface", ["Dr.", "J.", "J. K.", ",", "", "Mrs"])
def test_no_name(surface):
    assert name_form(surface) == ""
