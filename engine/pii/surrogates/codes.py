"""Make numbers and codes of the same shape, from ranges that belong to nobody where there are any."""

from __future__ import annotations

import re
import string

from engine.pii.surrogates.keyed import Draw

_TEST_ISSUER = "400000"  # a prefix payment providers publish for test cards
_NETWORKS = ("192.0.2", "198.51.100", "203.0.113")  # RFC 5737, documentation


def same_shape(value: str, draw: Draw) -> str:
    """Return digits for digits and letters for letters (case kept), everything else as it was."""
    out = []
    for i, char in enumerate(value):
        if char.isdigit():
            out.append(str(draw.between(1, 9) if i == 0 and char != "0" and len(value) > 1 else draw.number(10)))
        elif char.isalpha():
            letters = string.ascii_uppercase if char.isupper() else string.ascii_lowercase
            out.append(draw.choice(letters))
        else:
            out.append(char)
    return "".join(out)


def phone(value: str, draw: Draw) -> str:
    """Return a telephone number of the same shape; from seven digits on it ends in 555-01xx."""
    digits = [c for c in value if c.isdigit()]
    country = re.match(r"\s*\+\D*(\d{1,3})", value)
    lead = min(len(country.group(1)), max(0, len(digits) - 7)) if country else 0
    new = [d if i < lead or (i == 0 and d == "0") else str(draw.between(2, 9) if i == lead else draw.number(10))
           for i, d in enumerate(digits)]  # fmt: skip
    if len(digits) >= 7:
        new[-7:] = list("55501") + new[-2:]
    supply = iter(new)
    named = len(digits) < 7  # "ext. B4": a short extension's letters change too

    def other(char: str) -> str:
        if char.isdigit():
            return next(supply)
        return draw.choice(string.ascii_uppercase) if named and char.isupper() else char

    return "".join(map(other, value))


def luhn_valid(digits: str) -> bool:
    """Return whether the digits satisfy the Luhn check (ISO/IEC 7812-1, annex B)."""
    total = 0
    for i, char in enumerate(reversed(digits)):
        number = int(char) * (1 + i % 2)
        total += number - 9 if number > 9 else number
    return total % 10 == 0


def card(value: str, draw: Draw) -> str:
    """Return a card number of the same length and grouping, of a test range, with a valid check digit."""
    count = sum(c.isdigit() for c in value)
    if count < 12:
        return same_shape(value, draw)
    body = _TEST_ISSUER + "".join(str(draw.number(10)) for _ in range(count - len(_TEST_ISSUER) - 1))
    check = next(str(d) for d in range(10) if luhn_valid(body + str(d)))
    return _poured(value, body + check)


def iban(value: str, draw: Draw) -> str:
    """Return an account number of the same length and grouping under the user-assigned country code XX."""
    plain = [c for c in value if c.isalnum()]
    if len(plain) < 8:
        return same_shape(value, draw)
    body = "".join(str(draw.number(10)) if c.isdigit() else draw.choice(string.ascii_uppercase) for c in plain[4:])
    remainder = int("".join(str(int(c, 36)) for c in body + "XX00")) % 97
    return _poured(value, f"XX{98 - remainder:02d}{body}")


def national_id(value: str, draw: Draw) -> str:
    """Return an identity number of the same shape; one shaped like a US number starts with 666, never issued."""
    new = same_shape(value, draw)
    return "666" + new[3:] if re.fullmatch(r"\d{3}-\d{2}-\d{4}", value) else new


def ip(value: str, draw: Draw) -> str:
    """Return an address of the documentation networks (RFC 5737, RFC 3849)."""
    if ":" in value:
        return "2001:db8::" + ":".join(f"{draw.number(65536):x}" for _ in range(2))
    return re.sub(r"\d{1,3}(?:\.\d{1,3}){3}", lambda m: f"{draw.choice(_NETWORKS)}.{draw.between(1, 254)}", value)


def _poured(value: str, characters: str) -> str:
    supply = iter(characters)
    return "".join(next(supply) if c.isalnum() else c for c in value)
