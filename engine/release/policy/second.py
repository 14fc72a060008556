"""The second person: whose name stands beside a release, and how it is known that it is theirs."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

LONGEST = 80  # letters of a name that is typed
TYPED, SIGNED_IN = "name typed, no sign-in", "signed in"  # what the card, the manifest and the checker say


@dataclass(frozen=True)
class SecondPerson:
    """Who signed; `signed_in` says that they signed in themselves, else somebody typed the name."""

    name: str
    signed_in: bool

    @property
    def how(self) -> str:
        """How the name is known, in words for readers."""
        return SIGNED_IN if self.signed_in else TYPED

    def as_dict(self) -> dict[str, str]:
        """Return what leaves with a release."""
        return {"name": self.name, "how": self.how}


def tidy(name: str) -> str:
    """Return a name on one line, without characters that cannot be seen or turn the writing round."""
    seen = "".join("" if unicodedata.category(c) == "Cf" else " " if unicodedata.category(c)[0] == "C" else c
                   for c in name)  # fmt: skip
    return " ".join(seen.split())
