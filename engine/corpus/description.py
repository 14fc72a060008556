"""What a corpus is, in public words: the kind of document, its language and its domain, as a person declares them.

Nothing of it is read from the records. It goes into prompts and stands beside outputs, so it names a kind of text and
nobody in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.errors import UserError

LANGUAGES = {
    "ar": "Arabic", "bg": "Bulgarian", "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek",
    "en": "English", "es": "Spanish", "et": "Estonian", "fi": "Finnish", "fr": "French", "ga": "Irish",
    "gl": "Galician", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "it": "Italian", "ja": "Japanese",
    "ko": "Korean", "lt": "Lithuanian", "lv": "Latvian", "mt": "Maltese", "nl": "Dutch", "no": "Norwegian",
    "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sk": "Slovak", "sl": "Slovenian",
    "sv": "Swedish", "th": "Thai", "tr": "Turkish", "uk": "Ukrainian", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip
"""Languages by ISO 639-1 code."""
SUBJECTS = ("clinical", "legal", "social", "reviews", "generic")
LONGEST_KIND = 40
_KIND = re.compile(r"[^\W\d_][^\W\d_ ,'’-]*([ ,'’-]+[^\W\d_]+)*")


@dataclass(frozen=True)
class Description:
    """A kind of document such as `discharge letter`, a language by its code, and one of five domains."""

    kind: str
    language: str = "en"
    domain: str = "generic"

    @property
    def asked(self) -> str:
        """Return the kind as a prompt asks for it, with the language where it is not English."""
        return self.kind if self.language == "en" else f"{self.kind}, in {LANGUAGES[self.language]}"

    @staticmethod
    def checked(kind: str, language: str = "en", domain: str = "generic") -> Description:
        """Return a description after every check.

        Raises:
            UserError: the kind is no few words, or language or domain is not known.
        """
        words = " ".join(kind.split())
        if not 3 <= len(words) <= LONGEST_KIND or not _KIND.fullmatch(words):
            raise UserError(
                f"kind: must name a kind of document in 3 to {LONGEST_KIND} letters and blanks, such as discharge "
                "letter; no numbers and nobody's name, since it is public"
            )
        if language not in LANGUAGES:
            raise UserError(f"language: {language!r} is not known here; choose one of {', '.join(LANGUAGES)}")
        if domain not in SUBJECTS:
            raise UserError(f"domain: must be one of {', '.join(SUBJECTS)}, is {domain!r}")
        return Description(words, language, domain)
