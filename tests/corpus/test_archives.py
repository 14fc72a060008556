import gzip
import io
import stat
import zipfile
from pathlib import Path

import pytest

from engine.corpus.readers import ReadOptions, read_preview, read_table
from engine.errors import DataError, UserError


def packed(entries: dict[str, bytes], **flags: int) -> bytes:
    """Return a zip whose entries may carry any name."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries.items():
            info = zipfile.ZipInfo("x")
            info.filename = name
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = flags.get("mode", 0) << 16
            archive.writestr(info, data)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "name",
    ["../secret.txt", "a/../../secret.txt", "/etc/secret.txt", "C:\\secret.txt", "..\\secret.txt", "c:secret.txt"],
)
def test_a_path_that_leads_outside_refuses_the_archive(name: str) -> None:
    with pytest.raises(DataError) as caught:
        read_table(packed({"fine.txt": b"a text", name: b"b"}), "a.zip")
    assert (caught.value.row, caught.value.rule) == (2, "no path traversal")
    assert "secret" not in str(caught.value)


def test_a_link_refuses_the_archive() -> None:
    with pytest.raises(DataError) as caught:
        read_table(packed({"a.txt": b"/etc/passwd"}, mode=stat.S_IFLNK | 0o777), "a.zip")
    assert caught.value.rule == "no links"


def test_a_bomb_is_stopped_while_it_unpacks() -> None:
    bomb = packed({"a.txt": b"\x20" * 40_000_000})
    assert len(bomb) < 100_000
    with pytest.raises(DataError) as caught:
        read_table(bomb, "a.zip")
    assert caught.value.rule == "unpacked size"


def test_a_bomb_whose_header_understates_its_size_gives_no_text() -> None:
    bomb = bytearray(packed({"a.txt": b"a" * 40_000_000}))
    size = (40_000_000).to_bytes(4, "little")
    assert bomb.count(size) >= 1
    with pytest.raises(DataError):
        read_table(bytes(bomb).replace(size, (10).to_bytes(4, "little")), "a.zip")


def test_total_size_and_number_of_entries_are_limited() -> None:
    import random

    noise = random.Random(0).randbytes(40_000).hex().encode()
    with pytest.raises(DataError) as caught:
        read_table(packed({f"{i}.txt": noise for i in range(5)}), "a.zip", ReadOptions(max_bytes=199_000))
    assert caught.value.rule in ("unpacked size", "max_bytes")
    with pytest.raises(DataError) as caught:
        read_table(packed({f"{i}.txt": b"a" for i in range(6)}), "a.zip", ReadOptions(max_entries=5))
    assert caught.value.rule == "max entries"


def test_a_workbook_is_unpacked_under_the_same_limits() -> None:
    with pytest.raises(DataError) as caught:
        read_table(packed({"xl/workbook.xml": b"<x/>", "xl/worksheets/s.xml": b"\x20" * 40_000_000}), "a.xlsx")
    assert caught.value.rule == "unpacked size"


def test_an_encrypted_archive_asks_for_one_without_password() -> None:
    data = bytearray(packed({"a.txt": b"a text"}))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset] |= 1
    with pytest.raises(DataError) as caught:
        read_table(bytes(data), "a.zip")
    assert caught.value.rule == "no password"


def test_nested_archives_and_other_files_are_left_out_with_a_warning() -> None:
    table = read_table(
        packed({"a.txt": b"a text", "more.zip": b"PK", "x.rtf": b"{rtf", "__MACOSX/._a.txt": b"junk"}), "a.zip"
    )
    assert list(table["file"]) == ["a"]
    assert [w[:28] for w in table.attrs["warnings"]] == ["1 archives inside the archiv", "1 files that do not end in ."]


def test_an_archive_without_texts_says_what_is_expected() -> None:
    with pytest.raises(DataError, match=r"\.txt"):
        read_table(packed({"a.rtf": b"{rtf"}), "a.zip")


def test_a_damaged_entry_is_refused() -> None:
    data = bytearray(packed({"a.txt": bytes(range(32, 127)) * 50}))
    data[60] ^= 0xFF
    with pytest.raises(DataError) as caught:
        read_table(bytes(data), "a.zip")
    assert caught.value.rule == "readable zip"


def test_files_of_one_archive_share_their_encoding() -> None:
    texts = ["Die Prüfung ergab größere Schäden an der Außenwand.", "Übergabe der Schlüssel für Donnerstag.", "plain"]
    table = read_table(packed({f"{i}.txt": text.encode("cp1252") for i, text in enumerate(texts)}), "a.zip")
    assert list(table["text"]) == texts


def test_a_nul_in_one_text_names_the_entry() -> None:
    with pytest.raises(DataError) as caught:
        read_table(packed({"a.txt": b"fine", "secret.txt": b"bro\x00ken"}), "a.zip")
    assert (caught.value.row, caught.value.rule) == (2, "no NUL characters")
    assert "secret" not in str(caught.value)


def test_a_folder_is_read_in_order_and_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "in" / "b").mkdir(parents=True)
    (tmp_path / "outside.txt").write_text("outside")
    (tmp_path / "in" / "b" / "2.txt").write_text("second")
    (tmp_path / "in" / "1.txt").write_text("first")
    (tmp_path / "in" / "link.txt").symlink_to(tmp_path / "outside.txt")
    table = read_table(tmp_path / "in", "in")
    assert table[["file", "folder", "text"]].to_numpy().tolist() == [["1", "", "first"], ["b/2", "b", "second"]]
    assert "1 links were not followed" in table.attrs["warnings"][0]


@pytest.mark.parametrize("name", ["a.xls", "a.ods", "a.txt", "a.tar.gz", "a.docx", "a.pdf", "a.doc", "a"])
def test_a_format_that_is_not_read_says_what_to_do(name: str) -> None:
    with pytest.raises(UserError, match=r"save it|pack|unpack|rename"):
        read_table(b"id,text\n", name)


@pytest.mark.parametrize(
    ("name", "data"),
    [("a.csv.gz", b"id,text\n1,Seen today\n"), ("A.JSONL.GZ", b'{"id": "1", "text": "Seen today"}\n')],
)
def test_a_compressed_table_is_read_like_the_table(name: str, data: bytes, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(data))
    for source in (path, path.read_bytes()):
        table = read_table(source, name)
        assert (list(table["id"]), list(table["text"])) == (["1"], ["Seen today"])
    assert read_preview(path, name).filename == name


def test_a_compressed_file_that_is_damaged_or_a_bomb_is_refused() -> None:
    good = gzip.compress(b"id,text\n1,Seen today\n")
    for data in (good[:-9], b"id,text\n1,Seen\n", good[:12] + bytes([good[12] ^ 0xFF]) + good[13:]):
        with pytest.raises(DataError) as caught:
            read_table(data, "a.csv.gz")
        assert caught.value.rule == "readable gzip"
    with pytest.raises(DataError) as caught:
        read_table(gzip.compress(b"id,text\n" + b"1,a\n" * 4_000_000), "a.csv.gz")
    assert caught.value.rule == "unpacked size"
    with pytest.raises(DataError) as caught:
        read_table(gzip.compress(b"id,text\n" + b"1,abcdefgh\n" * 99), "a.csv.gz", ReadOptions(max_bytes=500))
    assert caught.value.rule in ("max_bytes", "unpacked size")
