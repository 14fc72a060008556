"""The verb `languages`: what each language has and has not, and what was measured of it.

Privacy posture: public facts about the program; no workspace is opened.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from dataclasses import asdict

from engine.pii.languages.registry import languages as known


def languages(options: Namespace) -> Mapping[str, object]:
    """List the languages."""
    del options
    return {"languages": [asdict(language) for language in known()]}
