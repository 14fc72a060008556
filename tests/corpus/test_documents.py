"""Word and PDF files in a folder or an archive: their whole text, and nothing that hangs, grows or says too much."""

from __future__ import annotations

import io
import os
import random
import signal
import subprocess
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from docx.oxml.ns import nsmap
from pypdf import PdfReader, PdfWriter

from engine.corpus.readers import read_preview, read_table
from engine.corpus.readers.base import Source
from engine.corpus.readers.documents.apart import PREVIEWED, DocumentReader
from engine.corpus.readers.documents.docx import docx_text
from engine.corpus.readers.documents.pdf import pdf_text, unwrapped
from engine.corpus.readers.documents.refusals import BROKEN, LARGE, LOCKED, RefusedError
from engine.errors import DataError
from tests.corpus.documents import pdf, word
from tests.corpus.test_archives import packed

W = nsmap["w"]
TRACKED = f"""<w:body xmlns:w="{W}" xmlns:mc="mc">
<w:p><w:r><w:t>Seen by </w:t></w:r><w:ins><w:r><w:t>Dr Orla Finch</w:t></w:r></w:ins><w:del><w:r>
<w:delText>Dr Old Name</w:delText></w:r></w:del><w:r><w:tab/><w:t>today</w:t><w:br/><w:t>at noon</w:t></w:r></w:p>
<w:sdt><w:sdtContent><w:p><w:r><w:t>Ward 7</w:t></w:r></w:p></w:sdtContent></w:sdt>
<w:p><w:pPr><w:tabs><w:tab w:val="left"/></w:tabs></w:pPr><w:r><mc:AlternateContent><mc:Choice><w:txbxContent><w:p><w:r>
<w:t>In a box</w:t></w:r></w:p></w:txbxContent></mc:Choice><mc:Fallback><w:p><w:r><w:t>In a box</w:t></w:r></w:p>
</mc:Fallback></mc:AlternateContent></w:r></w:p>
<w:p><w:r><w:instrText>PAGE</w:instrText></w:r><w:hyperlink><w:r><w:t>linked words</w:t></w:r></w:hyperlink></w:p>
</w:body>"""


def with_body(body: str) -> bytes:
    """Return a .docx file whose body is this XML."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(word("x"))) as old, zipfile.ZipFile(out, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            if info.filename == "word/document.xml":
                data = f'<w:document xmlns:w="{W}">{body}</w:document>'.encode()
            new.writestr(info.filename, data)
    return out.getvalue()


def test_a_word_file_gives_header_paragraphs_and_tables_in_order() -> None:
    data = word(
        "Dear colleague,", "", "yours", header="Clinic of St Ives", rows=[("Name", "Mara Quill"), ("Born", "1950")]
    )
    assert docx_text(data) == "Clinic of St Ives\nDear colleague,\n\nyours\nName\tMara Quill\nBorn\t1950"


def test_what_was_inserted_is_text_and_what_was_deleted_is_not() -> None:
    assert docx_text(with_body(TRACKED)) == "Seen by Dr Orla Finch\ttoday\nat noon\nWard 7\nIn a box\nlinked words"


def test_an_entity_in_a_word_file_reads_no_file(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("a secret")
    xml = f'<!DOCTYPE d [<!ENTITY e SYSTEM "file://{tmp_path}/secret">]>'
    body = f'<w:document xmlns:w="{W}"><w:body><w:p><w:r><w:t>&e;x</w:t></w:r></w:p></w:body></w:document>'
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(word("x"))) as old, zipfile.ZipFile(out, "w") as new:
        for info in old.infolist():
            new.writestr(info.filename, xml + body if info.filename == "word/document.xml" else old.read(info))
    assert docx_text(out.getvalue()) == "x"


def test_a_pdf_gives_its_pages_with_broken_lines_joined() -> None:
    first = ["Mara Quill came to the clinic on Monday with pain in her left", "knee, which she had for two", "- rest"]
    joined = "Mara Quill came to the clinic on Monday with pain in her left knee, which she had for two\n- rest"
    assert pdf_text(pdf(first, ["Second page."])) == f"{joined}\n\nSecond page."


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("a long line that fills it all\ngoes on", "a long line that fills it all goes on"),
        ("a long line with an inter-\nrupted word", "a long line with an interrupted word"),
        ("a long line with an X-\nRay of it", "a long line with an X- Ray of it"),  # a capital: nobody can tell
        ("a long line that fills it all\n- an item", "a long line that fills it all\n- an item"),
        ("a long line that fills it all\n\nnext", "a long line that fills it all\n\nnext"),
        ("short\nlines\nof a much longer page than these", "short\nlines\nof a much longer page than these"),
        ("", ""),
    ],
)
def test_lines_are_joined_where_the_page_broke_them(page: str, text: str) -> None:
    assert unwrapped(page) == text


def locked() -> bytes:
    """Return a PDF that asks for a password."""
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf(["secret"]))))
    writer.encrypt("word")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("suffix", "data", "code"),
    [
        (".pdf", b"%PDF-1.4 cut", BROKEN),
        (".pdf", b"", BROKEN),
        (".docx", b"PK\x03\x04 cut", BROKEN),
        (".docx", b"", BROKEN),
        (".docx", b"\xd0\xcf\x11\xe0 an encrypted one", LOCKED),
        (".docx", packed({"a.txt": b"no document"}), BROKEN),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_reason(suffix: str, data: bytes, code: str) -> None:
    with pytest.raises(RefusedError) as caught:
        (pdf_text if suffix == ".pdf" else docx_text)(data)
    assert caught.value.code == code


def test_a_locked_pdf_asks_for_one_without_password() -> None:
    with pytest.raises(DataError, match="password") as caught:
        read_table(packed({"Mara Quill.pdf": locked()}), "a.zip")
    assert (caught.value.row, "Mara" in str(caught.value)) == (1, False)


def test_an_archive_and_a_folder_give_the_same_records(tmp_path: Path) -> None:
    files = {
        "p1/a.txt": b"plain text",
        "p1/b.docx": word("a Word letter"),
        "p2/c.PDF": pdf(["a page of words"]),
        "p2/scan.pdf": pdf(stream=b"0 0 m 100 100 l S"),
        "p2/d.rtf": b"left out",
    }
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    expected = [
        ["p1/a", "p1", "plain text"],
        ["p1/b", "p1", "a Word letter"],
        ["p2/c", "p2", "a page of words"],
        ["p2/scan", "p2", ""],
    ]
    for table in (read_table(packed(files), "a.zip"), read_table(tmp_path, "folder")):
        assert table[["file", "folder", "text"]].to_numpy().tolist() == expected
        told = " ".join(table.attrs["warnings"])
        assert "1 documents hold no text" in told
        assert "1 files that do not end in .txt, .docx or .pdf" in told


def test_a_preview_reads_the_first_documents_and_counts_all() -> None:
    letter = word("one letter")
    preview = read_preview(packed({f"{i:03}.docx": letter for i in range(PREVIEWED + 15)}), "a.zip")
    assert preview.total_rows == PREVIEWED + 15
    assert preview.rows["text"].tolist() == ["one letter"] * 10


def test_a_document_that_takes_too_long_is_given_up_and_the_next_one_is_read() -> None:
    slow = pdf(stream=b"BT /F1 1 Tf " + b"(a) Tj " * 3_000_000 + b"ET")
    with DocumentReader(Source("a.zip"), seconds=1) as reader:
        with pytest.raises(DataError, match="within the limits") as caught:
            reader.text(".pdf", slow, 7)
        assert caught.value.row == 7
        assert reader.text(".docx", word("fine"), 8) == b"fine"


def test_a_lost_process_is_started_again() -> None:
    with DocumentReader(Source("a.zip")) as reader:
        assert reader.text(".docx", word("one"), 1) == b"one"
        assert reader._process is not None
        reader._process.kill()
        reader._process.wait()
        assert reader.text(".docx", word("two"), 2) == b"two"


class Ending(io.RawIOBase):
    """What a process says, when it is ended by a signal before it says anything."""

    def __init__(self, process: subprocess.Popen[bytes], number: int) -> None:
        self.process, self.number = process, number

    def readline(self, size: int | None = -1) -> bytes:
        self.process.send_signal(self.number)
        self.process.wait()
        self.close()
        return b""


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize(("number", "said"), [(signal.SIGSEGV, "broke down"), (signal.SIGKILL, "within the limits")])
def test_a_crash_is_told_apart_from_the_limits(number: int, said: str) -> None:
    with DocumentReader(Source("a.zip")) as reader:
        assert reader.text(".docx", word("one"), 1) == b"one"
        process = reader._process
        assert process is not None
        assert process.stdout is not None
        process.stdout.close()
        process.stdout = Ending(process, number)
        with pytest.raises(DataError, match=said):
            reader.text(".docx", word("two"), 2)
        assert reader.text(".docx", word("three"), 3) == b"three"


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="no /proc")
def test_the_process_inherits_no_variable_and_no_module_of_where_it_starts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("docx", "pypdf", "json", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w'); raise SystemExit(9)")
    monkeypatch.setenv("DATABASE_PASSWORD", "hunter2")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with DocumentReader(Source("a.zip")) as reader:
        assert reader.text(".docx", word("one"), 1) == b"one"
        assert reader._process is not None
        given = Path(f"/proc/{reader._process.pid}/environ").read_bytes().split(b"\0")
    assert {line.split(b"=")[0] for line in given if line} <= {b"LD_LIBRARY_PATH", b"DYLD_LIBRARY_PATH", b"SYSTEMROOT"}
    assert not (tmp_path / "ran").exists()


def test_a_word_file_that_unpacks_to_too_much_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.corpus.readers.documents.docx.MAX_UNPACKED_BYTES", 2**20)
    out = io.BytesIO()
    with (
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("word/document.xml", "w", force_zip64=True) as entry,
    ):
        for _ in range(2):
            entry.write(bytes(2**20))
    with pytest.raises(RefusedError) as caught:
        docx_text(out.getvalue())
    assert caught.value.code == LARGE


def damaged(draw: random.Random, sound: bytes) -> bytes:
    """Return a document with bytes changed, and sometimes cut."""
    data = bytearray(sound)
    for _ in range(draw.choice([1, 3, 20])):
        data[draw.randrange(len(data))] = draw.randrange(256)
    return bytes(data[: draw.randrange(len(data))] if draw.random() < 0.3 else data)


def test_damaged_documents_are_read_or_refused_and_never_more() -> None:
    """Two hundred documents with bytes changed or cut: text, or one of the reasons, by number."""
    draw = random.Random(4)
    rows = [("a", "b")]
    sound = {".docx": word("Mara Quill", "and more words", rows=rows), ".pdf": pdf(["Mara Quill was here."], ["two"])}
    rules: Counter[str] = Counter()
    messages = ""
    with DocumentReader(Source("a.zip"), seconds=20) as reader:
        for turn in range(200):
            suffix = draw.choice(list(sound))
            try:
                reader.text(suffix, damaged(draw, sound[suffix]), turn)
                rules["text"] += 1
            except DataError as error:
                rules[str(error.rule)] += 1
                messages += f"{error}\n"
    assert rules["text"] > 10, rules
    assert rules["readable document (broken)"] > 10, rules
    assert rules.total() == 200
    assert "Mara" not in messages
    assert messages.count("row ") == rules.total() - rules["text"]


def test_a_table_in_a_table_is_read_once_and_a_wrapped_cell_is_not_lost() -> None:
    inner = "<w:p><w:r><w:t>deep</w:t></w:r></w:p>"
    for _ in range(20):
        inner = f"<w:tbl><w:tr><w:tc>{inner}<w:p/></w:tc></w:tr></w:tbl>"
    assert docx_text(with_body(f"<w:body>{inner}</w:body>")) == "deep"
    cell = "<w:tc><w:p><w:r><w:t>Name</w:t></w:r></w:p></w:tc>"
    held = "<w:sdt><w:sdtContent><w:tc><w:p><w:r><w:t>Mara Quill</w:t></w:r></w:p></w:tc></w:sdtContent></w:sdt>"
    body = f"<w:body><w:tbl><w:tr>{cell}{held}</w:tr></w:tbl></w:body>"
    assert docx_text(with_body(body)) == "Name\tMara Quill"
