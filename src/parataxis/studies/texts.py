"""Texts that people of a study read, in one language or in several."""

from collections.abc import Mapping

__all__ = ["Text", "in_language"]

Text = str | dict[str, str]
"""One text for everybody, or texts by language code."""


def in_language(text: str | Mapping[str, str], language: str) -> str:
    """The text in that language; in English, or else in its first language, where it has none.

    >>> in_language({"en": "yes", "es": "sí"}, "es"), in_language({"es": "sí"}, "en")
    ('sí', 'sí')
    """
    if isinstance(text, str):
        return text
    for code in (language, language.partition("-")[0], "en"):
        if code in text:
            return text[code]
    return next(iter(text.values()), "")
