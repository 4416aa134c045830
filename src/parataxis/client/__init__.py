"""Asking a service that ``parataxis serve`` runs: :class:`Client`. Needs the extra ``[client]``."""

from parataxis.client.client import Client, Stream
from parataxis.client.records import (
    AnalysedSentence,
    DocumentRead,
    Explained,
    FoundPattern,
    Readable,
    Split,
    Splitters,
    SplitText,
)

__all__ = [
    "AnalysedSentence",
    "Client",
    "DocumentRead",
    "Explained",
    "FoundPattern",
    "Readable",
    "Split",
    "SplitText",
    "Splitters",
    "Stream",
]
