"""Files that pools come in: every service's answers, plain text, tables; damaged ones say what is wrong."""

from __future__ import annotations

import json

import pytest

from engine.corpus.pool.blocks import blocks
from engine.corpus.pool.build import MOST, build
from engine.corpus.pool.gather import BATCH, TABLE, TEXT, Candidate, gather
from engine.corpus.readers import ReadOptions
from engine.errors import DataError, UserError

SAID = "The parcel came late and nobody said why."
FORMS = {
    "openai": {
        "custom_id": "k-1",
        "response": {"status_code": 200, "body": {"choices": [{"message": {"content": SAID}}]}},
    },
    "openai completions": {"custom_id": "k-1", "response": {"body": {"choices": [{"text": SAID}]}}},
    "openai responses": {
        "custom_id": "k-1",
        "response": {"body": {"output": [{"type": "reasoning"}, {"content": [{"type": "output_text", "text": SAID}]}]}},
    },
    "anthropic": {
        "custom_id": "k-1",
        "result": {"type": "succeeded", "message": {"content": [{"type": "text", "text": SAID}]}},
    },
    "gemini": {
        "key": "k-1",
        "response": {"candidates": [{"content": {"parts": [{"text": "hm", "thought": True}, {"text": SAID}]}}]},
    },
    "bedrock": {"recordId": "k-1", "modelOutput": {"content": [{"type": "text", "text": SAID}]}},
}
FAILED = [
    {"custom_id": "k-2", "response": None, "error": {"message": "overloaded"}},
    {"custom_id": "k-2", "result": {"type": "errored", "error": {"type": "invalid_request"}}},
    {"custom_id": "k-2", "response": {"status_code": 500, "body": {"choices": None}}},
    {"custom_id": "k-2", "response": {"body": {"choices": [{"message": None}, 7]}}},
]


def jsonl(*lines):
    return "\n".join(json.dumps(line) for line in lines).encode()


@pytest.mark.parametrize("form", list(FORMS))
def test_every_service_s_answers_are_read(form):
    found = gather(jsonl(FORMS[form]), "answers.jsonl")
    assert (found.form, found.failed) == (BATCH, 0)
    assert [(one.text, one.prompt) for one in found.candidates] == [(SAID, "k-1")]


@pytest.mark.parametrize("line", FAILED, ids=["error", "errored", "no choices", "no message"])
def test_a_failed_answer_is_counted_and_gives_no_text(line):
    found = gather(jsonl(FORMS["openai"], FORMS["anthropic"], line), "answers.jsonl")
    assert (len(found.candidates), found.failed) == (2, 1)


def test_several_choices_are_several_texts():
    two = {
        "custom_id": "k-1",
        "response": {"body": {"choices": [{"message": {"content": SAID}}, {"text": "Another."}]}},
    }
    assert [one.text for one in gather(jsonl(two), "a.jsonl").candidates] == [SAID, "Another."]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("pool.csv", f"kind,abstract,label\nx,{SAID},late\n".encode()),
        ("pool.jsonl", jsonl({"kind": "x", "text": SAID, "label": "late"})),
        ("pool.json", json.dumps([{"kind": "x", "response": SAID, "label": "late"}]).encode()),
        ("latin.csv", f"text,label\n{SAID} Fêté à Genève,late\n".encode("cp1252")),
    ],
)
def test_a_table_is_read_by_its_usual_columns(name, data):
    found = gather(data, name)
    (one,) = found.candidates
    assert (found.form, one.label) == (TABLE, "late")
    assert one.text.startswith(SAID)


def test_columns_are_chosen_by_name_and_a_label_may_be_left_out():
    data = b"text,other,class\nno,this one,a\n"
    assert [(one.text, one.label) for one in gather(data, "p.csv", text="other").candidates] == [("this one", "a")]
    assert [one.label for one in gather(data, "p.csv", label="").candidates] == [None]
    with pytest.raises(UserError, match="no column of that name"):
        gather(data, "p.csv", text="body")


def test_plain_text_is_cut_at_headings_rules_or_blank_lines():
    headed = "Told.\n=== k-a-00001 ===\nOne.\n\nStill one.\n=== k-a-00002 ===\r\nTwo."
    assert blocks(headed) == [("k-a-00001", "One.\n\nStill one."), ("k-a-00002", "Two.")]
    assert blocks("One.\n\nstill\n---\nTwo.") == [("", "One.\n\nstill"), ("", "Two.")]
    assert blocks("One.\nline\n\n\nTwo.\n") == [("", "One.\nline"), ("", "Two.")]
    found = gather(headed.encode("utf-16"), "answers.txt")
    assert (found.form, [one.prompt for one in found.candidates]) == (TEXT, ["k-a-00001", "k-a-00002"])


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("cut.jsonl", jsonl(FORMS["openai"])[:-20], "row 1"),
        ("empty.jsonl", b"", "empty"),
        ("blank.txt", b" \n\n ", "blanks"),
        ("nul.txt", b"one\x00two", "NUL"),
        ("picture.txt", b"\x89PNG\r\n\x1a\n" + bytes(40), "picture"),
        ("book.pdf", b"%PDF-1.7", "as a zip"),
        ("half.jsonl", b'{"text": "a \\ud800 half"}', "half of a character"),
    ],
)
def test_a_damaged_file_says_what_is_wrong_and_shows_nothing_of_it(name, data, says):
    with pytest.raises((DataError, UserError), match=says) as caught:
        gather(data, name)
    assert SAID not in str(caught.value)


def test_an_enormous_file_is_refused_before_it_is_read():
    with pytest.raises(DataError, match="larger than the limit"):
        gather(b"x" * 5000, "p.txt", options=ReadOptions(max_bytes=4000))
    with pytest.raises(UserError, match=f"{4 * MOST + 1:,}"):
        build([Candidate(SAID)] * (4 * MOST + 1))


def test_a_pool_keeps_each_readable_text_once():
    loop = "the applicant of the applicant of the applicant of the applicant of the applicant"
    long = "The garden is lovely in the evening when the light falls low over the wall and nobody speaks at all"
    given = [
        SAID,
        "  the parcel CAME late and nobody said  why. ",
        loop,
        "Too short",
        "word " * 5000,
        long,
        f"{long} now",
    ]
    found = build([Candidate(text) for text in given])
    assert [one.text for one in found.candidates] == [SAID, long, f"{long} now"]
    assert found.dropped == {"equal to another": 1, "unreadable": 1, "too short": 1, "too long": 1}
    assert found.flagged == {"nearly equal": 1}
    assert found.read == len(found.candidates) + sum(found.dropped.values())
    kept = build([Candidate(text) for text in given], unread="keep", near="drop")
    assert [one.text for one in kept.candidates] == [SAID, loop, long]
    assert kept.flagged == {"unreadable": 1}


def test_what_no_pool_can_be_made_of_is_refused():
    with pytest.raises(UserError, match="2 too short"):
        build([Candidate("no"), Candidate("")])
    with pytest.raises(UserError, match="longer than"):
        build([Candidate(SAID, "a sentence about one person, which is no name of a class at all, and goes on and on")])
