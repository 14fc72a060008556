"""English names of the languages that the guesser of languages tells apart, by its codes (ISO 639)."""

from __future__ import annotations

from engine.corpus.description import LANGUAGES

OTHERS = {
    "ace": "Acehnese", "af": "Afrikaans", "am": "Amharic", "an": "Aragonese", "ary": "Moroccan Arabic",
    "arz": "Egyptian Arabic", "as": "Assamese", "az": "Azerbaijani", "ba": "Bashkir", "bcl": "Central Bikol",
    "be": "Belarusian", "bn": "Bengali", "br": "Breton", "bs": "Bosnian", "crh": "Crimean Tatar", "cy": "Welsh",
    "dz": "Dzongkha", "eo": "Esperanto", "eu": "Basque", "ext": "Extremaduran", "fa": "Persian", "fo": "Faroese",
    "fuv": "Nigerian Fulfulde", "fy": "West Frisian", "gcf": "Guadeloupean Creole", "gcr": "Guianese Creole",
    "gd": "Scottish Gaelic", "gom": "Goan Konkani", "grc": "Ancient Greek", "gu": "Gujarati", "gug": "Guarani",
    "guw": "Gun", "ha": "Hausa", "hbo": "Biblical Hebrew", "he": "Hebrew", "ht": "Haitian Creole", "hy": "Armenian",
    "id": "Indonesian", "ig": "Igbo", "is": "Icelandic", "jv": "Javanese", "ka": "Georgian", "kab": "Kabyle",
    "kik": "Kikuyu", "kk": "Kazakh", "km": "Khmer", "kn": "Kannada", "ku": "Kurdish", "ky": "Kyrgyz", "la": "Latin",
    "lb": "Luxembourgish", "lg": "Ganda", "lij": "Ligurian", "ln": "Lingala", "lo": "Lao", "ltg": "Latgalian",
    "mg": "Malagasy", "mk": "Macedonian", "ml": "Malayalam", "mn": "Mongolian", "mr": "Marathi", "ms": "Malay",
    "my": "Burmese", "ne": "Nepali", "nn": "Norwegian Nynorsk", "nso": "Northern Sotho", "oc": "Occitan",
    "om": "Oromo", "or": "Odia", "pa": "Punjabi", "pcm": "Nigerian Pidgin", "ps": "Pashto", "qu": "Quechua",
    "rw": "Kinyarwanda", "sa": "Sanskrit", "sdh": "Southern Kurdish", "se": "Northern Sami", "si": "Sinhala",
    "sn": "Shona", "so": "Somali", "sq": "Albanian", "sr": "Serbian", "st": "Southern Sotho", "sw": "Swahili",
    "ta": "Tamil", "te": "Telugu", "tg": "Tajik", "tk": "Turkmen", "tl": "Tagalog", "tt": "Tatar", "ug": "Uyghur",
    "ur": "Urdu", "uz": "Uzbek", "uzs": "Southern Uzbek", "vec": "Venetian", "vo": "Volapük", "wa": "Walloon",
    "wuu": "Wu Chinese", "xh": "Xhosa", "yo": "Yoruba", "yue": "Cantonese", "zu": "Zulu", "zxx": "no language",
}  # fmt: skip


def language_name(code: str) -> str:
    """Return a language's English name, or the code where it is none of these."""
    return LANGUAGES.get(code) or OTHERS.get(code, code)
