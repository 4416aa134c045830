"""How the application of a study is run."""

from dataclasses import dataclass, field

from parataxis.web.studies.keys import Secrets, SecretsFile

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings:
    """Where the application is found, what it trusts, and where its limits are."""

    secrets: Secrets | SecretsFile = field(repr=False)
    base_url: str = "http://127.0.0.1:8000"
    """What people type; the links that are sent out begin with it."""
    link_days: float = 60
    """How long a personal link can be used to come in."""
    session_days: float = 30
    """How long a person who came in need not use the link again on the same device."""
    organiser_hours: float = 12
    """How long an organiser stays logged in."""
    largest_body: int = 256 * 1024
    """Bytes that one request may send."""
    longest_text: int = 10_000
    """Characters of one answer."""
    arrivals_per_minute: int = 600
    """People that a panel may send from one address."""
    requests_per_minute: int = 300
    """What one person may ask for; the page of a writer who types asks for 200 at most."""

    @property
    def is_secure(self) -> bool:
        """Whether people come by https, so that cookies must not travel otherwise."""
        return self.base_url.startswith("https://")
