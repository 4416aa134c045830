"""Claims for other tools: what indexes keep beside a claim, and claims in the place of the facts
that FActScore and Ragas ask a language model for.

Neither FActScore nor Ragas is imported: the classes have the methods that they call.
"""

from types import SimpleNamespace
from typing import Any, Unpack

from parataxis.api import DEFAULT_SPLITTER, Splitter
from parataxis.checks.scope import ScopeKind
from parataxis.splitters.claims import Claim
from parataxis.splitters.registry import SentenceSplitter
from parataxis.splitters.settings import SettingOptions

__all__ = ["AtomicFacts", "Statements", "claim_metadata", "text_claims"]

_NOT_CHECKABLE = frozenset([ScopeKind.QUESTION, ScopeKind.FRAGMENT])
"""What can be neither true nor false."""


def text_claims(splitter: Splitter, text: str) -> list[Claim]:
    """The claims of a text; blank text has none."""
    return splitter.claims(text) if text.strip() else []


def claim_metadata(claim: Claim) -> dict[str, Any]:
    """The fields of a claim that an index keeps beside its text, as plain data: ``claim`` (its id),
    ``parent`` (the source sentence), ``start`` and ``end`` (its place in the text), ``spans``,
    ``scope``, ``links`` and ``confidence``.

    >>> (claim,) = text_claims(Splitter("source"), "It rained.")
    >>> claim_metadata(claim)["parent"]
    'It rained.'
    """
    fields = claim.model_dump(
        mode="json", include={"start", "end", "spans", "scope", "links", "confidence"}
    )
    return {"claim": claim.id, "parent": claim.source, **fields}


class _Claims:
    def __init__(
        self,
        splitter: str | SentenceSplitter = DEFAULT_SPLITTER,
        **options: Unpack[SettingOptions],
    ) -> None:
        options.setdefault("level", "atomic")
        self._splitter = Splitter(splitter, **options)

    def claims(self, text: str) -> list[Claim]:
        """The claims of a text that can be true or false."""
        found = text_claims(self._splitter, text)
        return [c for c in found if _NOT_CHECKABLE.isdisjoint(each.kind for each in c.scope)]


class AtomicFacts(_Claims):
    """The ``AtomicFactGenerator`` of FActScore: ``scorer.af_generator = AtomicFacts()``."""

    def run(self, generation: str, cost_estimate: str | None = None) -> Any:
        """Each sentence with its facts, and before which sentences a paragraph begins; or the
        words to pay for, of which there are none."""
        if cost_estimate:
            return 0
        pairs: dict[int, tuple[str, list[str]]] = {}
        breaks, last = [], 0
        for claim in self.claims(generation):
            if claim.start not in pairs:
                if pairs and "\n" in generation[last : claim.start]:
                    breaks.append(len(pairs))
                pairs[claim.start] = claim.source, []
            pairs[claim.start][1].append(claim.text)
            last = claim.end
        return list(pairs.values()), breaks

    def save_cache(self) -> None:
        """There is no cache: nothing costs anything."""


class Statements(_Claims):
    """The prompt of Ragas that takes an answer apart:
    ``Faithfulness(statement_generator_prompt=Statements())``, or
    ``FactualCorrectness(claim_decomposition_prompt=Statements())``."""

    async def generate(self, *, data: Any, **_: Any) -> SimpleNamespace:
        """The statements (or claims, as another metric calls them) of an answer."""
        text = data.answer if hasattr(data, "answer") else data.response
        found = [claim.text for claim in self.claims(text)]
        return SimpleNamespace(statements=found, claims=found)
