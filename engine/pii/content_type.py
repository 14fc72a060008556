"""Tell technical, general and personal text apart by what it mentions: a rule-based classifier, no model.

Source: Mohammed 2025, section 4.1 ("a rule-based classifier … checking for indicators of personal or technical
information"); it does not print its indicators, these are ours. A text is personal where personal indicators are at
least as frequent as technical ones and there is at least one for each `_EVERY` words; likewise technical. A single
pronoun or relative is no indicator by itself.
"""

from __future__ import annotations

import re
from typing import Literal

ContentType = Literal["technical", "general", "personal"]
_EVERY = 25  # words an indicator
_WORD = re.compile(r"\w+")
# What points at one person: typed placeholders of people and contacts (that is what stood there), a title with a name,
# an age, a contact, somebody's own relative. Words for a role alone (patient, applicant, resident) point at nobody.
_STRONG = re.compile(
    r"""\[(?:PERSON|USERNAME|EMAIL|PHONE|ADDRESS|NATIONAL_ID|MEDICAL_ID|CARD|IBAN)\b[^\]]*\]
    | \b(?:mr|mrs|ms|miss|dr|prof)\.?\s+(?-i:[A-Z])
    | \b(?:my|his|her|our|your)\s+(?:\w+\s)?(?:wife|husband|mother|father|mom|mum|dad|son|daughter|sister|brother
        |parents?|child|children|baby|family|friend|partner|spouse|birthday|address|phone|e-?mail|passport)\b
    | \b(?:born|birthday|pregnant|divorced|aged\s\d+)\b
    | \b\d{1,3}[- ]?(?:y/?o|year[- ]old|yr[- ]old|yo)\b
    | \S+@\S+\.\w+""",
    re.IGNORECASE | re.VERBOSE,
)
_WEAK = re.compile(
    r"""\b(?:he|she|his|her|hers|him|my|mine|i)\b
    | \b(?:wife|husband|mother|father|mom|mum|dad|son|daughter|sister|brother|spouse)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_TECHNICAL = re.compile(
    r"""\b(?:server|database|software|hardware|kernel|driver|package|install\w*|config\w*|version|repository|compile\w*
        |api|url|http\w*|ssh|sql|json|xml|html|python|java|linux|ubuntu|windows|boot\w*|disk|partition|memory|cpu|gpu
        |script|command|function|parameters?|variable|module|library|interface|protocol|network|router|firmware|bug
        |error|debug\w*|log|patch|stack|thread|algorithm|assay|titer|specimen|lot|serum|isotope|enzyme|plasmid|genome
        |sequence|regression|coefficient|variance)\b
    | \b\w+\.(?:py|c|h|js|sh|conf|log|txt|deb|so|exe)\b
    | \b\d+(?:\.\d+)*\s?(?:mg|mcg|ml|kg|mm|cm|ghz|mhz|mb|gb|kb|ms|hz|%)(?!\w)
    | \b[a-z]+_[a-z_]+\b | \b\w+\(\) | /(?:usr|etc|var|home|dev|opt)/\S* | \bv?\d+\.\d+\.\d+\b | --[a-z]\w+""",
    re.IGNORECASE | re.VERBOSE,
)


def content_type(text: str) -> ContentType:
    """Return what kind of content a text is; `general` where indicators are rare."""
    words = max(1, len(_WORD.findall(text)))
    strong, weak = len(_STRONG.findall(text)), len(_WEAK.findall(text))
    personal = strong + weak if strong or weak > 1 else 0
    technical = len(_TECHNICAL.findall(text))
    if max(personal, technical) * _EVERY < words:
        return "general"
    return "personal" if personal >= technical else "technical"
