"""Lines of the audit log that are alike in a row, as one row: what somebody did again and again to the same thing.

How to use: `groups(lines)` names the lines of each row, latest first; `together(details)` is what they come to,
`headline(...)` the few words of a row. Every line stays in the log and in its exports.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence

import pandas as pd

from pages._ui.ledger import names as ledger_names
from pages._ui.ledger import words

ALIKE = (
    "review decisions", "setting changed", "detector settings changed", "records approved", "records rejected",
    "records pending",
)  # fmt: skip
SETTING = "setting changed"
CHANGED = ledger_names.act(SETTING)
SUMMED = (*words.COUNTS, *words.BEHIND, "texts_read")


def groups(lines: pd.DataFrame) -> list[list[int]]:
    """Return the places of the lines of each row, in their order: those alike in a row are one.

    Changed answers are alike where what decides the most among them is the same, so that none hides behind a lesser.
    """
    found: list[list[int]] = []
    last: tuple[str, ...] | None = None
    for at, line in enumerate(lines.to_dict("records")):
        action = str(line["action"])
        body = _body(str(line["detail"])) if action == SETTING else {}
        which = (str(body.get("setting", "")), words.leads(str(body.get("changed", ""))))
        alike = (action, str(line["subject"]), str(line["actor"]), *which) if action in ALIKE else None
        if alike is not None and alike == last:
            found[-1].append(at)
        else:
            found.append([at])
        last = alike
    return found


def together(details: Sequence[str]) -> str:
    """Return the detail of a row, as JSON: counts added up, anything else as the latest line, the first one, has it."""
    if len(details) == 1:
        return details[0]
    bodies = [_body(detail) for detail in details]
    found = {key: value for body in reversed(bodies) for key, value in body.items()}
    for key in SUMMED:
        counts = [body[key] for body in bodies if isinstance(body.get(key), int)]
        if counts:
            found[key] = sum(int(str(count)) for count in counts)
    return json.dumps(found)


def changed(action: str, detail: str, names: Mapping[str, str]) -> str:
    """Return what a line says of a setting that changed, as it is since; empty where it says nothing of one."""
    told = _body(detail).get("changed")
    return words.latest(str(told), names) if action == SETTING and told else ""


def headline(action: str, detail: str, names: Mapping[str, str], *, subject: str, times: int, most: int) -> str:
    """Return the words of a row, `most` letters at most: what was done, how often, and as much of its details as fits.

    Args:
        detail: of the row, see `together`.
    """
    said = changed(action, detail, names)
    if said:
        often = f", {times} times" if times > 1 else ""
        return textwrap.shorten(said, most - len(often), placeholder=" …") + often
    said = ledger_names.act(action) + (f", {times} times" if times > 1 else "")
    for number, part in enumerate(ledger_names.parts(detail, names, subject=subject)):
        longer = f"{said}{ledger_names.SEPARATOR if number else ': '}{part}"
        if len(longer) > most:
            said = said if number else textwrap.shorten(longer, most, placeholder=" …")
            break
        said = longer
    return said


def _body(detail: str) -> dict[str, object]:
    try:
        found = json.loads(detail)
    except ValueError:
        return {}
    return dict(found) if isinstance(found, Mapping) else {}
