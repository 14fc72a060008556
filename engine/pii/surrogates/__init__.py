"""Type-true surrogates for accepted spans.

Privacy posture: the true values stay in memory; a surrogate depends on them only through an HMAC.
"""

from __future__ import annotations

from engine.pii.surrogates.maker import Replaced, SurrogateMaker

__all__ = ["Replaced", "SurrogateMaker"]
