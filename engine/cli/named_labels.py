"""A list of labels as the command line takes it: by name, or from a file of the custodian's own."""

from __future__ import annotations

import csv
from argparse import Namespace
from pathlib import Path

from engine.errors import UserError


def named_labels(options: Namespace) -> list[str]:
    """Return the labels that `--labels` and `--labels-file` name; empty where neither is given.

    Raises:
        UserError: a list is given and holds nothing, or the file cannot be read as UTF-8.
    """
    if options.labels is None and options.labels_file is None:
        return []
    named = next(csv.reader([options.labels or ""], skipinitialspace=True), [])
    if options.labels_file is not None:
        try:
            named += Path(options.labels_file).read_text("utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError):
            raise UserError("--labels-file: it cannot be read; name a UTF-8 text file with one label a line") from None
    listed = [label for label in named if label.strip()]
    if not listed:
        raise UserError("labels: the list is empty; name at least one label")
    return listed
