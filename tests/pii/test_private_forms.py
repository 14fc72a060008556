"""Which forms of a private value count."""

import pytest

from engine.pii.private_forms import private_forms


@pytest.mark.parametrize(
    ("value", "label", "values", "names"),
    [
        ("Mr Henrik Hasslund", "PERSON", {"Mr Henrik Hasslund", "Henrik Hasslund", "Henrik", "Hasslund"}, set()),
        ("Ms Lee", "PERSON", {"Ms Lee", "Lee"}, set()),
        ("Ali Brown", "PERSON", {"Ali Brown", "Ali"}, {"Brown"}),
        ("Anna Smith-Jones", "PERSON", {"Anna Smith-Jones", "Anna", "Smith", "Jones"}, set()),
        ("H. van der Berg", "PERSON", {"H. van der Berg", "Berg"}, set()),
        ("Ng Wei", "PERSON", {"Ng Wei", "Wei"}, {"Ng"}),
        ("AV", "PERSON", {"AV"}, set()),
        ("Mark", "PERSON", set(), {"Mark"}),
        ("Gül Yıldırım", "PERSON", {"Gül Yıldırım", "Gül", "Yıldırım"}, set()),
        ("Conor O’Brien", "PERSON", {"Conor O’Brien", "Conor", "O’Brien"}, set()),
        ("36244/06", "CODE", {"36244/06"}, set()),
        ("Hasslund Practice", "ORGANISATION", {"Hasslund Practice"}, set()),
        ("[**Hospital 18**]", "ORGANISATION", {"[**Hospital 18**]", "Hospital 18"}, set()),
        ("[**1**]", "CODE", {"[**1**]"}, set()),
    ],
)
def test_forms(value, label, values, names):
    forms = private_forms(value, label)
    assert (set(forms.values), set(forms.names)) == (values, names)
