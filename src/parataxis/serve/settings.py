"""How the service is run."""

from dataclasses import dataclass

from parataxis.api import DEFAULT_SPLITTER
from parataxis.splitters.registry import SentenceSplitter


@dataclass(frozen=True)
class ServiceSettings:
    """What the service offers, and where its limits are."""

    splitters: tuple[str | SentenceSplitter, ...] = (DEFAULT_SPLITTER, "rules", "source")
    """Those that can be asked for, by name, "NAME:DIR" or themselves; the first is the default."""
    page: bool = True
    """Whether there is the page for writers, or the API alone."""
    characters: int = 1_000_000
    """Characters of all sentences in one request."""
    sentences: int = 10_000
    """Sentences in one request."""
    upload: int = 8_000_000
    """Bytes of a document."""
    per_minute: int = 600
    """Requests that one address may make in a minute."""
    concurrent: int = 128
    """Requests that are answered at the same time."""
    queue: int = 20_000
    """Sentences that may wait."""
