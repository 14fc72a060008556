import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.corpus.build import RECORD_COLUMNS
from engine.corpus.columns.gold import read_spans
from engine.corpus.columns.mapping import ColumnMapping, suggest_mapping
from engine.corpus.keyed import keyed_uniform
from engine.corpus.readers import read_preview, read_table
from engine.corpus.readers.base import make_frame
from engine.corpus.statistics import CorpusStatistics
from engine.errors import DataError, UserError
from tests.corpus.built import build_corpus

KEY = b"k" * 32
TEXT = "the text of a record that is long enough"


def build(columns: dict[str, list[Any]], mapping: ColumnMapping, **settings_: Any) -> Any:
    """Build a corpus of a small table whose rows count as a spreadsheet's."""
    rows = len(next(iter(columns.values())))
    table = make_frame(columns, range(2, rows + 2))
    options: dict[str, Any] = {"unit": "record", "cap": 1, "holdout_rate": 0.0, "key": KEY, "filename": "f.csv"}
    return build_corpus(table, mapping, **{**options, **settings_})


def people(count: int, each: int) -> dict[str, list[Any]]:
    """Return `count` people with `each` records."""
    pairs = [(person, note) for person in range(count) for note in range(each)]
    return {
        "text": [f"{TEXT} number {note} of person {person}" for person, note in pairs],
        "who": [f"p{person}" for person, _ in pairs],
        "id": [f"{person}-{note}" for person, note in pairs],
    }


BY_PERSON = ColumnMapping("text", record_id="id", source_id="who")


def test_records_have_the_reserved_columns_and_kept_ones_a_prefix() -> None:
    built = build(
        {
            "text": [TEXT, "  ", None, "other text"],
            "split": ["a", "b", "c", 4],
            "label": [1.0, 2, 3, None],
            "z": list("1234"),
        },
        ColumnMapping("text", label="label", keep=("split",)),
    )
    assert list(built.records.columns) == [*RECORD_COLUMNS, "x_split"]
    assert built.records.to_numpy().tolist() == [
        ["000001", TEXT, None, "1", "train", "a"],
        ["000002", "other text", None, None, "train", "4"],
    ]
    assert built.statistics.empties_dropped == 2
    assert built.statistics.labels == {"1": 1, "": 1}
    assert "2 rows without text were left out." in built.warnings


def test_given_ids_are_strings() -> None:
    assert list(build({"text": ["a b", "c d"], "id": [7, 8.0]}, ColumnMapping("text", "id")).records["record_id"]) == [
        "7",
        "8",
    ]


@pytest.mark.parametrize(
    ("columns", "mapping", "row", "rule"),
    [
        ({"text": ["a b", "c"], "id": ["1", "1"]}, ColumnMapping("text", "id"), 3, "record ids are unique"),
        ({"text": ["a b", "c"], "id": ["1", " "]}, ColumnMapping("text", "id"), 3, "record ids are not empty"),
        ({"text": ["a b"], "id": ["x" * 201]}, ColumnMapping("text", "id"), 2, "record id is short"),
        ({"text": ["a b"], "id": ["x\ny"]}, ColumnMapping("text", "id"), 2, "record id is one line"),
        ({"text": ["a b"], "l": [["x"]]}, ColumnMapping("text", label="l"), 2, "label is a plain value"),
        ({"text": ["secret", 5]}, ColumnMapping("text"), 3, "text is text"),
        ({"text": ["12", "2021-03-01"]}, ColumnMapping("text"), None, "text is text"),
        ({"text": ["", None, " \n"]}, ColumnMapping("text"), None, "texts are not empty"),
        ({"text": ["secret\x00"]}, ColumnMapping("text"), 2, "no NUL characters"),
        ({"text": ["secret\ud800"]}, ColumnMapping("text"), 2, "whole characters"),
        ({"text": ["secret " * 150_000]}, ColumnMapping("text"), 2, "max characters"),
        ({"text": ["secret"]}, ColumnMapping("note"), None, "mapped column exists"),
        ({"text": ["secret"]}, ColumnMapping("text", keep=("age",)), None, "mapped column exists"),
    ],
)
def test_bad_cells_are_named_and_never_quoted(
    columns: dict[str, list[Any]], mapping: ColumnMapping, row: int | None, rule: str
) -> None:
    with pytest.raises(DataError) as caught:
        build(columns, mapping)
    assert (caught.value.file, caught.value.row, caught.value.rule) == ("f.csv", row, rule)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings_", "mapping"),
    [
        ({"unit": "person"}, ColumnMapping("text")),
        ({"unit": "source"}, ColumnMapping("text")),
        ({"cap": 0}, ColumnMapping("text")),
        ({"cap": True}, ColumnMapping("text")),
        ({"holdout_rate": 1.0}, ColumnMapping("text")),
        ({"holdout_rate": math.nan}, ColumnMapping("text")),
        ({}, ColumnMapping("")),
        ({}, ColumnMapping("text", label="text")),
    ],
)
def test_bad_settings_are_the_users_error(settings_: dict[str, Any], mapping: ColumnMapping) -> None:
    with pytest.raises(UserError):
        build({"text": [TEXT]}, mapping, **settings_)


def test_a_holdout_of_everything_is_refused() -> None:
    # a unit is held out with probability 0.9, so one of sixty single records is, but for 1e-60
    held_out = next(
        person for person in map(str, range(60)) if keyed_uniform(KEY, "holdout", f"record\x00{person}") < 0.9
    )
    with pytest.raises(DataError, match="lower the holdout share"):
        build({"text": [TEXT], "id": [held_out]}, ColumnMapping("text", "id"), holdout_rate=0.9)


def test_holdout_has_its_rate_keeps_people_together_and_depends_on_the_key() -> None:
    built = build(people(1500, 3), BY_PERSON, unit="source", cap=3, holdout_rate=0.2)
    sides = built.records.groupby("source_id")["split"].nunique()
    assert sides.max() == 1
    # Binomial(1500, 0.2): five standard deviations are 77 units
    assert abs(built.statistics.holdout_units - 300) < 77
    again = build(people(1500, 3), BY_PERSON, unit="source", cap=3, holdout_rate=0.2)
    other = build(people(1500, 3), BY_PERSON, unit="source", cap=3, holdout_rate=0.2, key=b"j" * 32)
    assert list(again.records["split"]) == list(built.records["split"])
    both = (other.records["split"] == "holdout") & (built.records["split"] == "holdout")
    assert both.sum() / 3 < 120  # independent splits share 0.04 * 1500 = 60 units


def test_cap_keeps_that_many_a_person_and_reports_the_others() -> None:
    built = build(people(40, 5), BY_PERSON, unit="source", cap=2, holdout_rate=0.2)
    used = built.records[built.records["split"] != "over_cap"]
    assert set(used.groupby("source_id").size()) == {2}
    assert built.statistics.over_cap == 120
    assert built.statistics.train_records + built.statistics.holdout_records == 80
    assert built.statistics.records_per_unit == {5: 40}
    assert any("120 of 200 records lie beyond the cap of 2" in warning for warning in built.warnings)
    first = {record_id[-1] for record_id in used["record_id"]}
    assert len(first) == 5  # chosen by keyed hash, not the first two of each


def test_records_without_a_source_are_units_of_their_own() -> None:
    built = build(
        {"text": ["a b", "c d", "e f", "g h"], "who": ["x", "x", None, ""]},
        ColumnMapping("text", source_id="who"), unit="source", cap=2,
    )  # fmt: skip
    assert built.statistics.units == 3
    assert built.statistics.without_source == 2
    assert any("have no source" in warning for warning in built.warnings)


def test_copies_are_counted_within_and_across_the_split() -> None:
    built = build({"text": ["same text"] * 200 + ["other text"]}, ColumnMapping("text"), holdout_rate=0.2)
    assert built.statistics.duplicates == 199
    held = built.records[built.records["split"] == "holdout"]
    assert built.statistics.duplicates_across_split == (held["text"] == "same text").sum() > 0


@pytest.mark.parametrize("as_json", [True, False])
def test_gold_spans_come_as_json_or_lists(as_json: bool) -> None:
    spans = [
        {"start": 0, "end": 3, "label": "per", "identifier_type": "DIRECT"},
        {"start": 8, "end": 12, "label": "Loc"},
    ]
    cells = [json.dumps(spans) if as_json else spans, None, "" if as_json else []]
    built = build({"text": ["Ada 👩🏽‍⚕️ York", "b", "c"], "spans": cells}, ColumnMapping("text", spans="spans"))
    rows = built.spans[["span_id", "record_id", "start", "end", "label", "recogniser"]].to_numpy().tolist()
    assert rows == [["g-000001", "000001", 0, 3, "PER", "gold"], ["g-000002", "000001", 8, 12, "LOC", "gold"]]
    assert built.spans["identifier_type"].tolist() == ["direct", None]
    assert built.statistics.records_with_gold == 1


@pytest.mark.parametrize(
    ("cell", "rule"),
    [
        ("[{", "spans are JSON"),
        ('{"start": 0}', "spans are a list"),
        (["secret"], "spans are a list"),
        ([{"start": 0, "end": 99, "label": "A"}], "0 <= start < end <= length"),
        ([{"start": 3, "end": 3, "label": "A"}], "0 <= start < end <= length"),
        ([{"start": -1, "end": 3, "label": "A"}], "0 <= start < end <= length"),
        ([{"start": "0", "end": 3, "label": "A"}], "offsets are numbers"),
        ([{"start": True, "end": 3, "label": "A"}], "offsets are numbers"),
        ([{"start": 0, "end": 3}], "spans have a label"),
        (
            [{"start": 0, "end": 3, "label": "A", "identifier_type": "secret"}],
            "identifier_type is direct, quasi or none",
        ),
        ([{"start": 0, "end": 3, "label": "A", "text": "secret"}], "offsets match the text"),
    ],
)
def test_bad_spans_are_named_and_never_quoted(cell: Any, rule: str) -> None:
    with pytest.raises(DataError) as caught:
        build({"text": ["fine", "some text"], "s": [None, cell]}, ColumnMapping("text", spans="s"))
    assert (caught.value.row, caught.value.rule) == (3, rule)
    assert "secret" not in str(caught.value)


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=40), st.data())
def test_offsets_count_code_points(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    (span,) = read_spans([{"start": start, "end": end, "label": "a", "text": text[start:end]}], text)
    assert text[span.start : span.end] == text[start:end]


def test_statistics_survive_json() -> None:
    statistics = build(people(12, 2), BY_PERSON, unit="source", cap=1, holdout_rate=0.2).statistics
    assert CorpusStatistics.from_dict(json.loads(json.dumps(statistics.as_dict()))) == statistics
    # 24 texts; "number 0 of person 0" adds 21 characters to the 40 of TEXT, people 10 and 11 one more
    assert (statistics.characters["min"], statistics.characters["max"]) == (61.0, 62.0)
    assert statistics.words["p50"] == 14.0


def test_a_build_changes_nothing_in_its_table() -> None:
    table = make_frame(people(4, 2), range(8))
    before = table.copy(deep=True)
    build_corpus(table, BY_PERSON, unit="source", cap=1, holdout_rate=0.0, key=KEY, filename="f")
    pd.testing.assert_frame_equal(table, before)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"note_id": ["1", "2"], "patient": ["a", "a"], "note": [TEXT, TEXT], "outcome": ["x", "y"]},
         ColumnMapping("note", "note_id", "patient", "outcome")),
        ({"note": [TEXT, TEXT], "department": ["x", "y"], "diagnosisLabel": ["a", "b"]},
         ColumnMapping("note", label="diagnosisLabel")),  # the surer name
        ({"id": ["1", "1"], "zeta": [TEXT, TEXT]}, ColumnMapping("zeta")),  # ids repeat; the longest column is the text
        ({"Full Text": [TEXT], "entities": [[{"start": 0, "end": 2, "label": "A"}]]},
         ColumnMapping("Full Text", spans="entities")),
        ({"text": ["1", "2"], "spans": ["none", "none"]}, ColumnMapping("")),  # names that their content contradicts
    ],
)  # fmt: skip
def test_suggested_mapping(columns: dict[str, list[Any]], expected: ColumnMapping) -> None:
    assert suggest_mapping(make_frame(columns, range(len(next(iter(columns.values())))))) == expected


def test_real_narratives_are_imported(test_data: Path) -> None:
    path = test_data / "vaers_1998_1999.parquet"
    mapping = read_preview(path, path.name).suggested
    built = build_corpus(
        read_table(path, path.name), mapping, unit="record", cap=1, holdout_rate=0.2, key=KEY, filename=path.name
    )
    assert (mapping.text, mapping.record_id, mapping.label) == ("text", "report_id", "outcome")
    assert built.statistics.records == 20_706
    assert abs(built.statistics.holdout_units - 0.2 * 20_706) < 5 * math.sqrt(20_706 * 0.16)
    assert built.statistics.english_share > 0.9
    assert len(built.unit_hashes) > 20_000


def test_real_gold_spans_are_all_read(test_data: Path) -> None:
    path = test_data / "tab_train_92.jsonl.gz"
    table = read_table(path, path.name)
    built = build_corpus(
        table, suggest_mapping(table), unit="record", cap=1, holdout_rate=0.2, key=KEY, filename=path.name
    )
    assert built.statistics.records_with_gold == 92
    assert set(built.spans["identifier_type"]) == {"direct", "quasi", "none"}


def test_the_web_process_may_import_all_of_it() -> None:
    code = (
        "import sys; import engine.corpus.build, engine.corpus.readers, engine.corpus.text.near_duplicates; "
        "heavy = {'torch', 'transformers', 'spacy', 'presidio_analyzer', 'sklearn', 'umap', 'numba', 'py3langid', "
        "'streamlit'}; print(sorted(heavy & set(sys.modules)))"
    )
    root = Path(__file__).resolve().parents[2]
    found = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
