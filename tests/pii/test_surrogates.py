"""Surrogates: tables of tiny cases, then properties over generated mentions and the sample corpora."""

from __future__ import annotations

import datetime as dt
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.corpus.names import DATE_STYLES, date_text
from engine.corpus.samples import SAMPLES
from engine.errors import UserError
from engine.pii.spans import LABELS, Span
from engine.pii.surrogates import SurrogateMaker
from engine.pii.surrogates.codes import luhn_valid
from engine.pii.surrogates.dates import month_first, shift_date
from engine.pii.surrogates.keyed import Draw, fold
from engine.pii.surrogates.numbers import shift_age
from engine.pii.surrogates.pools import pools
from engine.training.samples import generate

KEY = b"a key of the tests, no secret...."


def one(label, value, *, unit="source", source="s1", key=KEY, **options):
    """Return the surrogate of a value that stands alone in a record."""
    maker = SurrogateMaker(key, unit, **options)
    return maker.replace(value, [Span("r1", 0, len(value), label)], "r1", source).text


def marked(template):
    """Return text and spans of "{PERSON:Ann Lee} and ..." templates."""
    text, spans = "", []
    for part in re.split(r"(\{[A-Z_]+:[^}]*\})", template):
        if part.startswith("{"):
            label, value = part[1:-1].split(":", 1)
            spans.append(Span("r", len(text), len(text) + len(value), label))
            text += value
        else:
            text += part
    return text, spans


def values(replaced):
    return [replaced.text[s.start : s.end] for s in replaced.spans]


@pytest.mark.parametrize(
    ("text", "days", "expected"),
    [
        ("12 March 2014", 20, "1 April 2014"),
        ("12/03/2014", 20, "01/04/2014"),  # two digits stay two digits
        ("3/4/14", 1, "4/4/14"),  # one digit stays one
        ("12/25/2011", 7, "01/01/2012"),  # month first where day first is impossible
        ("2014-03-12", -12, "2014-02-28"),
        ("Tuesday 4 March 2014", 3, "Friday 7 March 2014"),  # the weekday is that of the new date
        ("Tue, 4 Mar 2014", 3, "Fri, 7 Mar 2014"),
        ("Mar. 4th, 2014", -2, "Mar. 2nd, 2014"),
        ("01-May-1981", 30, "31-May-1981"),
        ("31-May-1981", 30, "30-Jun-1981"),  # May was an abbreviation here
        ("SEPT 2011", 31, "OCT 2011"),
        ("March 4", 30, "April 3"),
        ("12/94", 60, "2/95"),
        ("2014", 200, "2015"),
        ("2014", -3, "2013"),  # a partial date moves one of its own units at least
        ("March 2014", -3, "February 2014"),
        ("the 1990s", 5, "the 2000s"),
        ("Spring 2013", -5, "Spring 2012"),
        ("between 12 March and 14 April 2014", 2, "between 14 March and 16 April 2014"),
        ("29 February 2016", 365, "28 February 2017"),
        ("20140312", 1, "20140313"),
        ("3MAR98", 3, "6MAR98"),
        ("28MAY98", 5, "2JUN98"),
        ("Monday", 3, "Thursday"),
        ("last Tuesday", 3, "last Tuesday"),
        ("'94", 40, "'95"),
    ],
)
def test_dates_keep_their_format(text, days, expected):
    assert shift_date(text, days, Draw(KEY, "d")).text == expected


def test_ambiguous_pairs_follow_the_corpus():
    american = ["12/25/98", "3/4/98", "10/7/99"]
    assert month_first(american)
    assert not month_first(["25/12/98", "3/4/98"])
    assert not month_first(["3/4/98"])
    assert shift_date("3/4/98", 30, Draw(KEY, "d"), month_first=True).text == "4/3/98"
    assert shift_date("25/12/98", 1, Draw(KEY, "d"), month_first=True).text == "26/12/98"
    assert shift_date("1998-03-04", 30, Draw(KEY, "d"), month_first=True).text == "1998-04-03"


def test_impossible_dates_become_possible_ones_of_the_same_shape():
    for text in ("31.02.2014", "45/13/2012", "2014-19-40"):
        new = shift_date(text, 9, Draw(KEY, text)).text
        assert re.sub(r"\d", "#", new) == re.sub(r"\d", "#", text)
        order = ("%d.%m.%Y", "%d/%m/%Y", "%Y-%m-%d")
        assert any(_parses(new, form) for form in order)


def _parses(text, form):
    try:
        dt.datetime.strptime(text, form)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("style", sorted(set(DATE_STYLES)))
@settings(max_examples=40, deadline=None)
@given(day=st.dates(dt.date(1940, 1, 1), dt.date(2030, 12, 31)), days=st.integers(-365, 365).filter(bool))
def test_every_style_shifts_exactly(style, day, days):
    if style in {"slash", "short_slash", "dots"} and day.day <= 12:
        day = day.replace(day=13)  # otherwise day and month cannot be told apart
    if style in {"short", "dash"} and day.month == 5:
        day = day.replace(day=30, month=6)  # "May" does not say whether months are shortened
    if style == "short_slash" and not dt.date(1942, 1, 1) <= day <= dt.date(2028, 1, 1):
        return  # two digits of a year tell no century beyond
    new = shift_date(date_text(day, style), days, Draw(KEY, "x")).text
    expected = date_text(day + dt.timedelta(days=days), style)
    if style in {"dots", "short_slash"} and day.month > 9:  # two digits do not say whether zeros lead
        new, expected = (re.sub(r"\b0", "", v) for v in (new, expected))
    assert new == expected


@pytest.mark.parametrize(
    ("text", "years", "expected"),
    [
        ("47", 3, "50"),
        ("47-year-old", -2, "45-year-old"),
        ("aged 17", 3, "aged 15"),  # a minor stays a minor, and moves by two years at most
        ("3", -4, "2"),
        ("1", -4, "2"),  # never zero
        ("thirty-four", 2, "thirty-six"),
        ("89", 2, "87"),
        ("94", 2, "90 or older"),
        ("the 94-year-old", 2, "the 90+-year-old"),
    ],
)
def test_ages(text, years, expected):
    assert shift_age(text, years) == expected


def test_names_of_one_person_agree():
    text, spans = marked(
        "Dr {PERSON:Maria Kowalska} wrote. {PERSON:Kowalska} and {PERSON:M. Kowalska} and {PERSON:KOWALSKA, Maria}; "
        "{PERSON:Mrs Kowalska} ({PERSON:MK}), {PERSON:María} and {EMAIL:maria.kowalska@work.test}"
    )
    full, last, initial, turned, titled, initials, first, mail = values(
        SurrogateMaker(KEY, "record").replace(text, spans, "r")
    )
    given_name, surname = full.split()
    assert fold(given_name) in {fold(n) for n in pools().given["f"]}
    assert last == surname
    assert initial == f"{given_name[0].upper()}. {surname}"
    assert turned == f"{surname.upper()}, {given_name}"
    assert titled == f"Mrs {surname}"
    assert initials == given_name[0].upper() + surname[0].upper()
    assert first == given_name
    plain = [re.sub("[^a-z]", "", fold(n)) for n in (given_name, surname)]
    assert mail.split("@")[0].split(".") == plain
    assert re.search(r"\.example\.(org|com|net)$", mail)


def test_a_surname_alone_meets_the_full_name_of_another_record():
    maker = SurrogateMaker(KEY, "source")
    records = [marked("{PERSON:Oyelaran} called"), marked("{PERSON:Adunni Oyelaran} called back")]
    for n, (text, spans) in enumerate(records):
        maker.observe(text, spans, f"r{n}", "s")
    alone, full = (values(maker.replace(text, spans, f"r{n}", "s"))[0] for n, (text, spans) in enumerate(records))
    assert full.split()[1] == alone


def test_a_title_tells_the_gender_of_an_unknown_name():
    text, spans = marked("Mrs {PERSON:Xqwynne Dorvale} and Mr {PERSON:Zzorbat Dorvale}")
    her, him = (v.split()[0] for v in values(SurrogateMaker(KEY, "record").replace(text, spans, "r")))
    assert her in pools().given["f"]
    assert him in pools().given["m"]


@pytest.mark.parametrize(
    ("label", "value", "pattern"),
    [
        ("ORGANISATION", "Barrow General Hospital", r"(?!Barrow)\w+ General Hospital"),
        ("ORGANISATION", "University of Leeds", r"University of (?!Leeds)\w+"),
        ("ORGANISATION", "Harrow & Sons Ltd", r"(?!Harrow)\S+ & Sons Ltd"),
        ("ORGANISATION", "Ministry of Justice", r"Ministry of (?!Justice)\w+"),
        ("ORGANISATION", "Supreme Court", r"\w+ Supreme Court"),
        ("ORGANISATION", "the police", r"the [A-Z]\w+ police"),
        ("ORGANISATION", "NATO", r"(?!NATO)[A-Z]{4}"),
        ("LOCATION", "Copper Road", r"(?!Copper)\S+ Road"),
        ("LOCATION", "LEEDS", r"(?!LEEDS)[A-Z]+"),
        ("LOCATION", "SW1A 2AA", r"[A-Z]{2}\d[A-Z] \d[A-Z]{2}"),
        ("ADDRESS", "Flat 3, 165c Thorning Close", r"Flat \d, \d{3}[a-z] (?!Thorning)\S+ Close"),
        ("PHONE", "+44 20 7946 0958", r"\+44 \d\d \d555 01\d\d"),
        ("PHONE", "(212) 867-5309", r"\(\d{3}\) 555-01\d\d"),
        ("CODE", "AB-1234/x", r"[A-Z]{2}-\d{4}/[a-z]"),
        ("NATIONAL_ID", "123-45-6789", r"666-\d\d-\d{4}"),
        ("IP", "10.2.33.4", r"(192\.0\.2|198\.51\.100|203\.0\.113)\.\d+"),
        ("URL", "https://www.acme.test/jobs/17", r"https://www\.\w+\.example\.(org|com|net)/\w{4}/\d\d"),
        ("USERNAME", "@mkowal_77", r"@[a-z]+_\d\d"),
        ("QUANTITY", "12,430.50 euros", r"1\d,\d{3}\.\d\d euros"),
        ("QUANTITY", "three children", r"(two|four) children"),
        ("AGE", "47", r"4[3-9]|5[01]"),
        ("DATE", "three weeks", r"(two|four) weeks"),
        ("MISC", "the red barn", r"\[MISC\]"),
    ],
)
def test_surrogates_are_true_to_their_type(label, value, pattern):
    for number in range(30):
        new = one(label, value, source=f"s{number}")
        assert re.fullmatch(pattern, new), new
        assert fold(new) != fold(value)


def test_countries_states_and_nationalities_stay_what_they_are():
    assert fold(one("LOCATION", "Norway")) in pools().country_keys
    assert one("LOCATION", "Ohio") in pools().states
    assert one("DEMOGRAPHIC", "Polish") in pools().nationalities
    assert one("DEMOGRAPHIC", "retired bus driver").removeprefix("retired ") in pools().jobs
    assert one("DEMOGRAPHIC", "mother") in {"grandmother", "aunt", "sister", "daughter", "niece", "stepmother"}


def test_an_unknown_description_is_kept_and_counted():
    replaced = SurrogateMaker(KEY, "record").replace("a gongfermor", [Span("r", 2, 11, "DEMOGRAPHIC")], "r")
    assert replaced.text == "a gongfermor"
    assert dict(replaced.kept) == {"DEMOGRAPHIC": 1}
    assert replaced.spans[0].recogniser == "kept"


@pytest.mark.parametrize("value", ["4556 7375 8689 9855", "371449635398431"])
def test_cards_have_valid_check_digits(value):
    new = one("CARD", value)
    assert re.sub(r"\d", "#", new) == re.sub(r"\d", "#", value)
    assert luhn_valid(re.sub(r"\D", "", new))


def iban_valid(iban):
    """Say whether the check digits are right (ISO 13616, mod 97)."""
    plain = re.sub(r"[^0-9A-Za-z]", "", iban).upper()
    return int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1


@pytest.mark.parametrize("value", ["GB82 WEST 1234 5698 7654 32", "DE89370400440532013000"])
def test_ibans_have_valid_check_digits(value):
    assert iban_valid(value)
    new = one("IBAN", value)
    assert new.startswith("XX")
    assert [len(p) for p in new.split()] == [len(p) for p in value.split()]
    assert iban_valid(new)


def test_articles_follow_the_surrogate():
    text, spans = marked("a {DEMOGRAPHIC:bus driver} met an {DEMOGRAPHIC:electrician}")
    for number in range(40):
        maker = SurrogateMaker(KEY, "record")
        out = maker.replace(text, spans, f"r{number}").text
        assert not re.search(r"\ba [aei]", out), out
        assert not re.search(r"\ban [bcdfgjklmnpqrstvwyz]", out), out


def test_keep_labels_and_argument_rules():
    assert one("LOCATION", "Leeds", keep_labels=("LOCATION",)) == "Leeds"
    with pytest.raises(UserError, match="16 bytes"):
        SurrogateMaker(b"short", "record")
    with pytest.raises(UserError, match="record or source"):
        SurrogateMaker(KEY, "case")


def test_no_surrogate_is_a_forbidden_value():
    towns = {one("LOCATION", "Leeds", source=f"s{n}") for n in range(50)}
    people = {one("PERSON", "Ann Brook", source=f"s{n}") for n in range(50)}
    for n in range(50):
        assert one("LOCATION", "Leeds", source=f"s{n}", forbidden=towns) not in towns
        assert one("PERSON", "Ann Brook", source=f"s{n}", forbidden=people) not in people


ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ KLMNOPé'.-/0123456789@"
MENTIONS = st.tuples(st.sampled_from(sorted(LABELS)), st.text(ALPHABET, min_size=1, max_size=24).filter(str.strip))


@settings(max_examples=200, deadline=None)
@given(st.lists(MENTIONS, min_size=1, max_size=6), st.sampled_from([" and ", " ", ", a "]))
def test_offsets_stay_exact_for_any_value(mentions, joint):
    text, spans = "", []
    for label, value in mentions:
        spans.append(Span("r", len(text), len(text) + len(value), label))
        text += value + joint
    replaced = SurrogateMaker(KEY, "record").replace(text, spans, "r")
    assert [s.label for s in replaced.spans] == [s.label for s in spans]
    rest = replaced.text
    for placed in reversed(replaced.spans):
        assert 0 <= placed.start < placed.end <= len(replaced.text)
        rest = rest[: placed.start] + "\0" + rest[placed.end :]
    shape = re.sub(r"\ban ", "a ", rest)
    assert shape == ("\0" + joint) * len(mentions)


@settings(max_examples=60, deadline=None)
@given(MENTIONS)
def test_same_value_same_surrogate_inside_a_unit(mention):
    label, value = mention
    text = f"{value} ... {value}"
    spans = [Span("r", 0, len(value), label), Span("r", len(value) + 5, len(text), label)]
    first, second = values(SurrogateMaker(KEY, "record").replace(text, spans, "r"))
    assert first == second


def test_units_and_keys_are_independent():
    """The same name in 200 units, or under other keys, has nearly as many surrogates as there are units."""
    across = [one("PERSON", "Maria Kowalska", source=f"s{n}") for n in range(200)]
    other_key = [one("PERSON", "Maria Kowalska", source=f"s{n}", key=KEY[::-1]) for n in range(200)]
    assert len(set(across)) > 190
    assert sum(a == b for a, b in zip(across, other_key)) <= 2
    shifts = {one("DATE", "12 March 2014", source=f"s{n}") for n in range(200)}
    assert len(shifts) > 120
    assert "12 March 2014" not in shifts


@pytest.fixture(scope="module", params=[info.id for info in SAMPLES])
def replaced_corpus(request):
    frame = generate(request.param, 150, 11)
    spans = [
        [Span(r, s["start"], s["end"], s["label"], identifier_type=s["identifier_type"]) for s in found]
        for r, found in zip(frame.record_id, frame.spans)
    ]
    rows = list(zip(frame.text, spans, frame.record_id, frame.source_id))
    naming = {t[s.start : s.end] for t, found, _, _ in rows for s in found if s.label in {"PERSON", "LOCATION", "CODE"}}
    maker = SurrogateMaker(KEY, "source", forbidden=naming)
    for row in rows:
        maker.observe(*row)
    return rows, naming, [maker.replace(*row) for row in rows]


def test_no_true_value_remains_where_it_stood(replaced_corpus):
    rows, _, out = replaced_corpus
    kept = sum(sum(replaced.kept.values()) for replaced in out)
    same = 0
    for (text, spans, _, _), replaced in zip(rows, out):
        for old, new in zip(spans, replaced.spans):
            assert old.label == new.label
            same += fold(text[old.start : old.end]) == fold(replaced.text[new.start : new.end])
    assert same == kept <= 0.005 * sum(len(r.spans) for r in out)


def test_no_name_place_or_code_of_the_corpus_comes_out(replaced_corpus):
    _, naming, out = replaced_corpus
    true = {fold(value) for value in naming}
    for replaced in out:
        for span in replaced.spans:
            if span.label in {"PERSON", "LOCATION", "CODE"} and span.recogniser == "surrogate":
                value = fold(replaced.text[span.start : span.end])
                assert value not in true or len(value) <= 2 or value in pools().country_keys


def test_one_shift_for_all_dates_of_a_source(replaced_corpus):
    rows, _, out = replaced_corpus
    shifts: dict[str, set[int]] = {}
    for (text, spans, _, source), replaced in zip(rows, out):
        for old, new in zip(spans, replaced.spans):
            pair = (text[old.start : old.end], replaced.text[new.start : new.end])
            if old.label == "DATE" and all(_parses(v, "%d %B %Y") for v in pair):
                before, after = (dt.datetime.strptime(v, "%d %B %Y") for v in pair)
                shifts.setdefault(source, set()).add((after - before).days)
    assert len(shifts) > 5
    for found in shifts.values():
        assert len(found) == 1
        assert 1 <= abs(found.pop()) <= 365


def test_the_order_of_records_does_not_matter(replaced_corpus):
    rows, naming, out = replaced_corpus
    maker = SurrogateMaker(KEY, "source", forbidden=naming)
    for row in reversed(rows):
        maker.observe(*row)
    again = [maker.replace(*row) for row in reversed(rows)][::-1]
    assert [r.text for r in again] == [r.text for r in out]
