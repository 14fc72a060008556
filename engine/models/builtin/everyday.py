"""Words of every day, as the public vocabulary tells: what is that frequent identifies nobody by itself."""

from __future__ import annotations

import json
from functools import lru_cache

from engine.models.builtin.shipped import vocabulary_folder


@lru_cache(maxsize=1)
def everyday_words() -> frozenset[str]:
    """Return words so frequent in public text that the public vocabulary has a lower-case token for each."""
    tokens = json.loads((vocabulary_folder() / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    return frozenset(t[1:] for t in tokens if t[:1] == "Ġ" and len(t) > 3 and t[1:].isalpha() and t[1:].islower())
