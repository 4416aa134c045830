"""The splitter as a whole, with a decoder that was told what to say."""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import pytest

import parataxis
from parataxis.checks import Checker
from parataxis.checks.verifier import MORE, OUTPUTS, RewriteVerdict
from parataxis.errors import InputError, TooLongError
from parataxis.rewrite.record import Level
from parataxis.splitters.pointer import PointerSplitter
from parataxis.splitters.pointer.actions import WHOLE
from parataxis.splitters.pointer.splitter import LONGEST
from parataxis.splitters.registry import AdjustableSplitter, SentenceSplitter
from parataxis.splitters.settings import SplitSettings
from parataxis.syntax.analyser import Analyser
from parataxis.syntax.analysis import Analysis
from parataxis.syntax.onnx import THREADS_VARIABLE

Write = Callable[..., list[int]]

RAIN = "It rained."


def poets(count: int) -> list[str]:
    return [f"Mother, who wrote {n} {'very ' * (n % 7)}long plays, died." for n in range(count)]


@pytest.fixture
def splitter(analyser: Analyser, write: Write, scripted: Callable[..., object]) -> PointerSplitter:
    """Splits the poets (the likeliest rewrite of every third loses its number) and not the rain."""
    scripts: dict[str, list[tuple[float, list[int]]]] = {RAIN: [(1.0, [WHOLE])]}
    for n, source in enumerate(poets(70)):
        plays = f"{'very ' * (n % 7)}long plays"
        good = write(source, "Mother died", f"[she] wrote {n} {plays}")
        lost = write(source, "Mother died", f"[she] wrote {plays}")
        fragment = write(source, "Mother died", f"[because] [she] wrote {n} {plays}")
        first, second = (lost, fragment) if n % 3 == 0 else (good, lost)
        scripts[source] = [(0.6, first), (0.3, second), (0.1, [WHOLE])]
    decoder = scripted(scripts)
    return PointerSplitter(analyser, decoder, Checker(analyser), _in_order)  # type: ignore[arg-type]


def _in_order(
    source: str, rewrites: Sequence[Sequence[str]], *level: Level
) -> list[RewriteVerdict]:
    """Prefers what was found in its order, and the source itself to nothing; sees no fault."""
    found = []
    for number, each in enumerate(rewrites):
        faults = np.full((len(each), OUTPUTS), 0.001 * number, np.float32)
        faults[:, MORE] = 0.9 * ([*each] == [source])
        found.append(RewriteVerdict(0.0, faults))
    return found


def test_splitter_is_one(splitter: PointerSplitter) -> None:
    assert isinstance(splitter, SentenceSplitter)
    assert isinstance(splitter, AdjustableSplitter)
    assert (splitter.name, splitter.beam, splitter.settings.strict) == ("pointer", 4, False)


def test_splitter_rewrites_one_sentence(splitter: PointerSplitter) -> None:
    rewrite = splitter("Mother, who wrote 1 very long plays, died.")
    assert rewrite.simple == ("Mother died.", "She wrote 1 very long plays.")
    assert rewrite.findings == ()
    assert splitter(RAIN).simple == (RAIN,)


def test_splitter_pipes_many_in_order(splitter: PointerSplitter) -> None:
    sources = [RAIN, *poets(70), RAIN]
    rewrites = list(splitter.pipe(iter(sources)))
    assert [rewrite.source for rewrite in rewrites] == sources
    assert rewrites[2].simple == ("Mother died.", "She wrote 1 very long plays.")
    assert rewrites[1].simple == ("Mother died.", "Because she wrote 0 long plays.")


@pytest.mark.parametrize("threads", ["1", "3"])
def test_splitter_gives_the_same_in_every_batch_and_thread(
    splitter: PointerSplitter, threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(THREADS_VARIABLE, threads)
    sources = poets(40)
    together = list(splitter.pipe(sources))
    assert together == list(splitter.pipe(reversed(sources)))[::-1]
    assert together[:8] == [splitter(source) for source in sources[:8]]


def test_splitter_strict_takes_no_rewrite_with_a_finding(splitter: PointerSplitter) -> None:
    strict = splitter.adjusted(SplitSettings(strict=True, confidence=0.5))
    whole, split = strict.pipe(poets(2))
    assert whole.simple == (poets(1)[0],)
    assert whole.note == (
        "Left whole because the checks fault every rewrite that was found; in the best one, the "
        "number '0' is missing."
    )
    assert split.simple == ("Mother died.", "She wrote 1 very long plays.")


def test_splitter_beam_of_one_finds_one_rewrite(splitter: PointerSplitter) -> None:
    assert splitter.adjusted(SplitSettings(beam=1))(poets(1)[0]).simple == (poets(1)[0],)


@pytest.mark.parametrize("beam", [0, 9, -1])
def test_splitter_refuses_another_beam(beam: int) -> None:
    with pytest.raises(InputError) as caught:
        PointerSplitter(beam=beam)
    assert str(caught.value) == f"The beam must be from 1 to 8, not {beam}."


def test_splitter_leaves_whole_what_is_too_long(splitter: PointerSplitter) -> None:
    long = "Mother " + "very " * (LONGEST - 2) + "sang"
    longer = f"{long} there."
    endless = "Mother " + "very " * 600 + "sang."
    rewrites = list(splitter.pipe([longer, RAIN, endless]))
    assert [rewrite.simple for rewrite in rewrites] == [(longer,), (RAIN,), (endless,)]
    assert rewrites[0].note == (
        "Left whole because it has 201 words (204 word pieces), and only sentences of up to 200 "
        "words (512 word pieces) are rewritten; split it at a semicolon or a full stop first."
    )
    assert (rewrites[2].note or "").startswith("Left whole because it has 602 words")


def test_splitter_handles_a_sentence_of_200_words(
    analyser: Analyser, write: Write, scripted: Callable[..., object]
) -> None:
    long = "Mother " + "very " * (LONGEST - 4) + "old sang so."
    decoder = scripted(
        {long: [(1.0, write(long, "Mother sang so", "[she] [is]" + " very" * 196 + " old"))]}
    )
    rewrite = PointerSplitter(analyser, decoder, None, _in_order)(long)  # type: ignore[arg-type]
    assert rewrite.simple == ("Mother sang so.", "She is" + " very" * 196 + " old.")


@pytest.mark.parametrize("marks", ["...", "— * —", "()"])
def test_splitter_gives_back_what_has_no_words(splitter: PointerSplitter, marks: str) -> None:
    rewrite = splitter(marks)
    assert (rewrite.simple, rewrite.note) == ((marks,), None)


def test_splitter_refuses_an_empty_sentence(splitter: PointerSplitter) -> None:
    with pytest.raises(InputError, match="There is no sentence here"):
        splitter(" ")


def test_splitter_loads_nothing_before_it_is_used() -> None:
    assert PointerSplitter().adjusted(SplitSettings(strict=True)).settings.strict


def test_splitter_through_the_api(splitter: PointerSplitter) -> None:
    source = poets(1)[0]
    text = f"{source}  {RAIN}\n"
    assert str(parataxis.split(text, splitter=splitter)) == (
        f"Mother died. Because she wrote 0 long plays.  {RAIN}\n"
    )
    assert str(parataxis.split(text, splitter=splitter, strict=True)) == text
    assert str(parataxis.split(text, splitter=splitter, beam=1)) == text
    checked = parataxis.Splitter(splitter, check=True)(source)
    assert checked == splitter(source)


def test_splitter_analyses_only_what_it_splits(
    analyser: Analyser, splitter: PointerSplitter, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    pipe = analyser.pipe

    def listen(sentences: Iterable[str]) -> Iterator[Analysis | TooLongError]:
        listed = list(sentences)
        asked.extend(listed)
        return pipe(listed)

    monkeypatch.setattr(analyser, "pipe", listen)
    list(splitter.pipe([RAIN, "Mother, who wrote 1 very long plays, died."]))
    assert RAIN not in asked
    assert "Mother, who wrote 1 very long plays, died." in asked


MILL = "The mill burned down in May, and everyone had to leave the valley and find work elsewhere."


def test_splitter_splits_claims_a_second_time() -> None:
    """The first search leaves "had to leave the valley and find work" together."""
    found = parataxis.split(MILL, level="atomic").rewrites[0]
    assert found.simple == (
        "The mill burned down in May.",
        "Everyone had to leave the valley.",
        "Everyone had to find work elsewhere.",
    )
    assert found.provenance is not None
    places = [[MILL[slice(*t.source)] for t in tokens if t.source] for tokens in found.provenance]
    assert places[2] == ["everyone", "had", "to", "find", "work", "elsewhere", "."]
    assert found.confidence is not None
    assert found.findings == ()
    several = [MILL, RAIN, "Ann, who sings, left.", MILL]
    batch = list(PointerSplitter(level="atomic").pipe(several))
    assert batch[0] == batch[3] == found


def test_splitter_splits_claims_again_only_where_it_is_sure() -> None:
    sure = parataxis.split(MILL, level="atomic", confidence=0.99).rewrites[0]
    assert sure.simple == (MILL,)
