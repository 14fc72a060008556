import codecs

import pytest

from engine.corpus.readers import ReadOptions, read_preview, read_table
from engine.corpus.readers.encoding import detect_encoding
from engine.errors import DataError, UserError

GERMAN = "id;text\n1;Die Prüfung der Wohnung ergab größere Schäden, über die der Mieter schon früher klagte.\n"


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (GERMAN.encode("utf-8"), "utf-8"),
        (codecs.BOM_UTF8 + GERMAN.encode("utf-8"), "utf-8"),
        (GERMAN.encode("utf-16"), "utf-16"),
        (codecs.BOM_UTF16_BE + GERMAN.encode("utf-16-be"), "utf-16"),
        (GERMAN.encode("utf-32"), "utf-32"),
        (GERMAN.encode("utf-16-le"), "utf-16-le"),
        (GERMAN.encode("utf-16-be"), "utf-16-be"),
        (GERMAN.encode("cp1252"), "cp1252"),
    ],
)
def test_encoding_is_found_and_the_text_survives(data: bytes, encoding: str) -> None:
    preview = read_preview(data, "a.csv")
    assert preview.encoding == encoding
    assert preview.columns == ["id", "text"]
    assert "größere Schäden" in preview.rows["text"].iloc[0]


def test_a_guess_is_said_to_be_one() -> None:
    assert "Check accented letters" in read_preview(GERMAN.encode("cp1252"), "a.csv").warnings[0]


def test_where_letters_are_to_be_checked_the_first_row_with_one_comes_cut_around_it() -> None:
    plain = "a word and another one, " * 40
    rows = [f"{n};{plain}" for n in range(20)]
    rows[4] = f"4;{plain}5 \u20ac, {plain}"  # a mark, no letter
    rows[12] = f"12;{plain}at the caf\u00e9 {plain}"
    preview = read_preview("\n".join(["id;text", *rows]).encode("cp1252"), "a.csv")
    assert preview.lettered is not None
    found = preview.lettered["text"]
    assert found.row == 14, "as the file counts, its head is row 1"
    assert "at the caf\u00e9 a word" in found.text
    assert found.text.startswith("\u2026 ")
    assert found.text.endswith(" \u2026")
    assert len(found.text) <= 110
    assert "id" not in preview.lettered
    assert "caf" not in repr(preview)
    assert preview.looked_at == 20


@pytest.mark.parametrize(
    "words", ["J\u00fcri seen in clinic " + "and told to rest " * 9, "told to rest " * 9 + "J\u00fcri"]
)
def test_a_letter_near_an_end_of_its_text_comes_with_as_many_words_as_one_in_the_middle(words: str) -> None:
    preview = read_preview(f"id;text\n1;{words}\n".encode("cp1252"), "a.csv")
    assert preview.lettered is not None
    assert "J\u00fcri" in preview.lettered["text"].text
    assert len(preview.lettered["text"].text) > 95


def test_where_no_letter_is_a_mark_is_shown_and_none_where_the_encoding_is_no_guess() -> None:
    marks = read_preview("id;text\n1;plain\n2;5 \u20ac a day\n".encode("cp1252"), "a.csv").lettered
    assert marks is not None
    assert (marks["text"].row, marks["text"].text) == (3, "5 \u20ac a day")
    assert read_preview(GERMAN.encode(), "a.csv").lettered is None


def test_a_chosen_encoding_that_does_not_fit_names_the_line() -> None:
    data = "id,text\n1,plain\n2,caf\xe9\n".encode("latin-1")
    with pytest.raises(DataError) as caught:
        read_table(data, "a.csv", ReadOptions(encoding="utf-8"))
    assert (caught.value.row, caught.value.rule) == (3, "valid encoding")
    assert "caf" not in str(caught.value)


@pytest.mark.parametrize("name", ["klingon", "hex", "rot13", "zip"])
def test_an_unknown_encoding_is_the_users_error(name: str) -> None:
    with pytest.raises(UserError, match="no encoding is called"):
        read_table(b"id,text\n1,a\n", "a.csv", ReadOptions(encoding=name))


def test_a_nul_character_is_named_by_its_line() -> None:
    with pytest.raises(DataError) as caught:
        read_table(b"id,text\n1,fine\n2,bro\x00ken\n", "a.csv")
    assert (caught.value.row, caught.value.rule) == (3, "no NUL characters")


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Le patient a été opéré à l'hôpital; il ne présente plus de fièvre, où que ce soit.", "cp1252"),
        ("El señor Muñoz llegó mañana al hospital", "cp1252"),
        ("It’s a “quote” – naïve, and said so to the doctor", "cp1252"),
        ("Žluťoučký kůň úpěl ďábelské ódy, příliš žluťoučký kůň.", "cp1250"),
        ("Привет, как дела? Пациент жалуется на боль в груди.", "cp1251"),
        ("病人昨天发烧，今天咳嗽，医生建议多休息。" * 5, "gb18030"),
    ],
)
def test_code_pages_without_a_mark(text: str, encoding: str) -> None:
    guess = detect_encoding(text.encode(encoding))
    assert guess is not None
    assert text.encode(encoding).decode(guess) == text
