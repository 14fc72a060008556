"""What the thresholds of the filter's similarity stage find, measured on public text.

Written by `tests/benchmarks/filter_similarity.py` on the shipped made-up corpora; a test repeats the first table.
VALUES: the share of 400 identifiers found as they are, rewritten, and after random edits, and how many windows of
another corpus are near one by chance, in 10,000 words. SENTENCES: the share of 200 sentences whose embedding is as near
to a known sentence: as it is, with a word less, with another value in its place, cut in half; and of 200 sentences each
of the same and of another kind of text, by chance. At 0.85 values are met by chance where many numbers share a shape.
"""

from __future__ import annotations

from collections.abc import Mapping

VALUES: Mapping[float, Mapping[str, float]] = {
    0.95: {"as it is": 1.0, "rewritten": 1.0, "1 edit": 0.117, "2 edits": 0.028, "3 edits": 0.015, "by chance": 0.0},
    0.92: {"as it is": 1.0, "rewritten": 1.0, "1 edit": 0.365, "2 edits": 0.045, "3 edits": 0.015, "by chance": 0.0},
    0.9: {"as it is": 1.0, "rewritten": 1.0, "1 edit": 0.502, "2 edits": 0.072, "3 edits": 0.02, "by chance": 0.35},
    0.85: {"as it is": 1.0, "rewritten": 1.0, "1 edit": 0.892, "2 edits": 0.31, "3 edits": 0.117, "by chance": 60.81},
}  # fmt: skip
SENTENCES: Mapping[float, Mapping[str, float]] = {
    0.95: {"as it is": 1.0, "a word less": 0.6, "another value": 0.025, "half of it": 0.0,
          "same kind": 0.025, "another kind": 0.0},
    0.92: {"as it is": 1.0, "a word less": 0.725, "another value": 0.03, "half of it": 0.015,
          "same kind": 0.045, "another kind": 0.0},
    0.9: {"as it is": 1.0, "a word less": 0.805, "another value": 0.035, "half of it": 0.03,
          "same kind": 0.045, "another kind": 0.0},
    0.85: {"as it is": 1.0, "a word less": 0.905, "another value": 0.085, "half of it": 0.095,
          "same kind": 0.065, "another kind": 0.0},
}  # fmt: skip
