"""The splitters that the service offers, each loaded once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from parataxis.api import Splitter
from parataxis.errors import InputError, ParataxisError, UnknownSplitterError
from parataxis.splitters.protocol import AdjustableSplitter, SentenceSplitter
from parataxis.splitters.registry import load_splitter, splitter_names
from parataxis.web.service.tasks import SplitTask

__all__ = ["Offer", "Offers"]


@dataclass(frozen=True)
class Offer:
    """A splitter, or the reason why it cannot be used."""

    name: str
    splitter: SentenceSplitter | None
    problem: str | None = None

    @property
    def summary(self) -> str:
        """What it does, in one line."""
        return self.splitter.summary if self.splitter else ""

    @property
    def is_adjustable(self) -> bool:
        """Whether it follows a beam."""
        return isinstance(self.splitter, AdjustableSplitter)


class Offers(Mapping[str, Offer]):
    """The offered splitters by name. Those who ask give a name; only who runs the service can
    give "NAME:DIR"."""

    def __init__(self, splitters: Sequence[str | SentenceSplitter]) -> None:
        if not splitters:
            raise InputError("No splitter is offered; name at least one.")
        self._offers: dict[str, Offer] = {}
        for each in splitters:
            offer = _offer(each) if isinstance(each, str) else Offer(each.name, each)
            if offer.name in self._offers:
                raise InputError(f'The splitter "{offer.name}" is named twice.')
            self._offers[offer.name] = offer
        self.default = next(iter(self._offers))

    def __getitem__(self, name: str) -> Offer:
        return self._offers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._offers)

    def __len__(self) -> int:
        return len(self._offers)

    def task(
        self,
        name: str | None = None,
        *,
        strict: bool = False,
        beam: int | None = None,
        check: bool = True,
        patterns: bool = True,
    ) -> SplitTask:
        """What splits with the splitter of that name (None: the default) and its options; a
        ParataxisError where there is none like that."""
        name = self.default if name is None else name
        if name not in self._offers:
            raise UnknownSplitterError(
                f'There is no splitter "{name}" here; there are: {", ".join(self._offers)}.'
            )
        offer = self._offers[name]
        if offer.splitter is None:
            raise ParataxisError(offer.problem)
        splitter = Splitter(offer.splitter, strict=strict, beam=beam, check=check)
        return SplitTask(splitter, name, strict, beam, check, patterns)


def _offer(specification: str) -> Offer:
    name = specification.partition(":")[0]
    if name not in splitter_names():
        load_splitter(name)  # which says what there is
    try:
        return Offer(name, load_splitter(specification))
    except ParataxisError as error:
        return Offer(name, None, str(error))
