"""Ages in words, in the languages whose packs find them: "siebenundsechzigjährig", "setenta y dos años"."""

from __future__ import annotations

import re
from functools import lru_cache

from engine.pii.surrogates.numbers import OLDEST, moved_age
from engine.pii.surrogates.people import cased

_DE = (
    "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn "
    "achtzehn neunzehn"
).split()
_DE_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
_ES = (
    "un dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho "
    "diecinueve veinte veintiún veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho "
    "veintinueve"
).split()
_ES_TENS = "treinta cuarenta cincuenta sesenta setenta ochenta noventa".split()


def local_age(value: str, years: int, code: str) -> str | None:
    """Return an age in words moved as `shift_age` moves figures; None where the language's words are not known."""
    words = _words(code)
    match = re.search("|".join(map(re.escape, sorted(words, key=len, reverse=True))), value.lower()) if words else None
    if match is None or any(c.isdigit() for c in value):
        return None
    age = words[match.group()]
    new = _word(code, moved_age(age, years) if age <= OLDEST else OLDEST)
    return value[: match.start()] + cased(value[match.start() : match.end()], new) + value[match.end() :]


@lru_cache(maxsize=4)
def _words(code: str) -> dict[str, int]:
    if code not in {"de", "es"}:
        return {}
    found = {_word(code, n): n for n in range(2 if code == "de" else 1, 100)}
    if code == "es":
        found |= {w.replace("ún", "uno"): n for w, n in found.items() if w.endswith("ún")}
        found |= {f"{w}o": n for w, n in found.items() if w.endswith(" un")}
        plain = str.maketrans("áéíóú", "aeiou")
        found |= {w.translate(plain): n for w, n in found.items()}
    return found


def _word(code: str, n: int) -> str:
    """Return the word of a number from 1 to 99, as it stands before what is counted."""
    if code == "es":
        tens, rest = divmod(n, 10)
        return _ES[n - 1] if n < 30 else _ES_TENS[tens - 3] + (f" y {_ES[rest - 1]}" if rest else "")
    if n < 20:
        return _DE[n - 1]
    tens, rest = divmod(n, 10)
    return (f"{_DE[rest - 1].removesuffix('s') if rest == 1 else _DE[rest - 1]}und" if rest else "") + _DE_TENS[
        tens - 2
    ]
