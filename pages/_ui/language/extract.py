"""Write what the code says into the catalogues: `python -m pages._ui.language.extract`.

`assets/languages/interface.pot` then holds each sentence once, with the file it stands in, and each
`assets/languages/<code>/interface.po` the same sentences with its translations; a new one waits there without any, and
what nobody says any more is gone. `--check` writes nothing and tells what is stale or missing.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from babel.messages import Catalog
from babel.messages.pofile import read_po, write_po

from engine import LABELS, presets_of
from pages._ui.language.catalogue import FILE, FOLDER, TEMPLATE
from pages._ui.language.script import sentences
from pages._ui.plan.words import CARDS

PAGES = Path(__file__).resolve().parents[2]
HEAD = "# What the pages say, written by `python -m pages._ui.language.extract`; change the code, not this file."
KEPT = ("Language:", "MIME", "Content", "Plural", "Project")  # lines of the head that say something
MessageId = str | tuple[str, str]


def said() -> Iterator[tuple[str, MessageId]]:
    """Yield each sentence of the pages, a pair where it has two forms, with the file that says it."""
    for path in sorted(PAGES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and (message := _message(node)):
                yield path.relative_to(PAGES.parent).as_posix(), message
    for path in sorted((*PAGES.rglob("*.js"), *PAGES.rglob("*.html"))):
        for message in sentences(path.read_text(encoding="utf-8")):
            yield path.relative_to(PAGES.parent).as_posix(), message
    for label in LABELS.values():
        yield "engine/__init__.py", label[0]
    for method in CARDS:
        for preset in presets_of(method):
            yield "engine/__init__.py", preset.title
            yield "engine/__init__.py", preset.says


def _message(call: ast.Call) -> MessageId | None:
    """Return what a call says, None where it is another call or says something that was marked elsewhere."""
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    words = [one.value for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    if name in ("tr", "mark") and words:
        return words[0]
    if name == "trn" and len(words) == 2:
        return words[0], words[1]
    if name == "count_of" and words:  # a noun that `texts.count_of` puts behind a number
        return f"{{n}} {words[0]}", f"{{n}} {words[1] if len(words) > 1 else words[0] + 's'}"
    return None


def template() -> Catalog:
    """Return what the code says as a catalogue without translations, in the order of the files."""
    made = Catalog(project="Understudy", charset="utf-8", fuzzy=False, header_comment=HEAD)
    for name, message in said():
        made.add(message, locations=[(name, 0)])
    return made


def written(catalog: Catalog) -> bytes:
    """Return a catalogue as its file holds it: no line numbers and no times, which change without a word changing."""
    out = BytesIO()
    write_po(out, catalog, width=110, omit_header=False, include_lineno=False, ignore_obsolete=True)
    head, _, body = out.getvalue().decode().partition("\n\n")
    lines = [line for line in head.splitlines() if not line.startswith('"') or line[1:].startswith(KEPT)]
    return ("\n".join(lines) + "\n\n" + body).encode()


def updated(path: Path, fresh: Catalog) -> bytes:
    """Return the catalogue of a language with the sentences as they are now, its translations kept."""
    with path.open("rb") as file:
        kept = read_po(file, locale=path.parent.name)
    head = kept.header_comment
    kept.update(fresh, no_fuzzy_matching=True)
    kept.header_comment = head
    return written(kept)


def main(arguments: list[str]) -> int:
    """Write the files, or compare them; return the exit status."""
    fresh = template()
    made = {FOLDER / TEMPLATE: written(fresh)}
    made |= {path: updated(path, fresh) for path in sorted(FOLDER.glob(f"*/{FILE}"))}
    changed = [path for path, content in made.items() if not path.exists() or path.read_bytes() != content]
    for path in changed:
        sys.stderr.write(f"{path.relative_to(PAGES.parent)}: {'differs' if '--check' in arguments else 'written'}\n")
        if "--check" not in arguments:
            path.write_bytes(made[path])
    return 1 if changed and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
