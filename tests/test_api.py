"""Splitting from Python: texts, many sentences, checks, strictness, and a light import."""

import pickle
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import parataxis
from parataxis import FindingKind, InputError, Rewrite, Splitter, TooLongError, UnknownSplitterError
from parataxis.errors import ParataxisError
from parataxis.splitters.settings import SplitSettings

MILL = "The mill, which was built in 1850, burned down."


class FakeSplitter:
    """Splits at semicolons, loses every "not", and refuses long sentences."""

    name = "fake"
    summary = "For tests."

    def __init__(self) -> None:
        self.calls: list[int] = []

    def __call__(self, sentence: str) -> Rewrite:
        if len(sentence) > 100:
            raise TooLongError("The sentence is too long.")
        parts = [part.strip(" .") for part in sentence.replace(" not", "").split(";")]
        simple = [f"{part}." for part in parts if part] or [sentence]
        return Rewrite(source=sentence, simple=simple, splitter=self.name)

    def pipe(self, sentences: Iterable[str]) -> Iterator[Rewrite]:
        batch = list(sentences)
        self.calls.append(len(batch))
        return map(self, batch)


def test_api_splits_a_text() -> None:
    result = parataxis.split(f"{MILL}  It rained.\n")
    assert (
        result.text == str(result) == ("The mill burned down. It was built in 1850.  It rained.\n")
    )
    assert result.simple == [
        "The mill burned down.",
        "It was built in 1850.",
        "It rained.",
    ]
    assert [rewrite.source for rewrite in result.rewrites] == [MILL, "It rained."]
    assert {rewrite.splitter for rewrite in result.rewrites} == {parataxis.DEFAULT_SPLITTER}


def test_api_takes_a_splitter_by_name_or_as_an_object() -> None:
    assert str(parataxis.split("Ann sang; Bob left.", splitter="source")) == "Ann sang; Bob left."
    assert str(parataxis.split("Ann sang; Bob left.", splitter=FakeSplitter())) == (
        "Ann sang. Bob left."
    )
    assert Splitter(FakeSplitter()).name == "fake"


def test_api_reports_an_unknown_splitter() -> None:
    with pytest.raises(UnknownSplitterError, match='There is no splitter "rulez"'):
        parataxis.split("It rained.", splitter="rulez")


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_api_refuses_an_empty_text(text: str) -> None:
    with pytest.raises(InputError, match="The text is empty"):
        parataxis.split(text)


def test_api_refuses_an_empty_sentence() -> None:
    with pytest.raises(InputError, match="A sentence is empty"):
        list(Splitter("source").pipe(["It rained.", " "]))


def test_api_gives_back_a_text_without_sentences() -> None:
    result = parataxis.split("```\nx = 1; y = 2\n```\n", splitter=FakeSplitter())
    assert (str(result), result.simple) == ("```\nx = 1; y = 2\n```\n", [])


@settings(max_examples=50)
@given(st.text(st.sampled_from("aB.;!?\n\t -*#>1é雨🙂"), max_size=60).filter(str.strip))
def test_api_loses_nothing_of_a_text(text: str) -> None:
    assert str(parataxis.split(text, splitter="source")) == text


def test_api_pipes_many_sentences_in_order_and_in_batches() -> None:
    fake = FakeSplitter()
    sentences = [f"Ann ate {n} plums; Bob left." for n in range(800)]
    rewrites = list(Splitter(fake).pipe(iter(sentences)))
    assert [rewrite.source for rewrite in rewrites] == sentences
    assert fake.calls == [32, 64, 128, 256, 256, 64]  # the first answers come soon


def test_api_pipe_is_lazy() -> None:
    def endless() -> Iterator[str]:
        while True:
            yield "Ann sang; Bob left."

    assert next(Splitter(FakeSplitter()).pipe(endless())).simple == ("Ann sang.", "Bob left.")


def test_api_leaves_a_sentence_whole_that_is_too_long() -> None:
    long = "Ann " + "very " * 30 + "sang; Bob left."
    whole, other = Splitter(FakeSplitter()).pipe([long, "Ann sang; Bob left."])
    assert (whole.simple, whole.note, whole.splitter) == (
        (long,),
        "The sentence is too long.",
        "fake",
    )
    assert other.is_split


class UnreliableSplitter(FakeSplitter):
    """Does something to the rewrites of a batch."""

    def __init__(self, change: Callable[[list[Rewrite]], Iterable[Rewrite]]) -> None:
        super().__init__()
        self.change = change

    def pipe(self, sentences: Iterable[str]) -> Iterator[Rewrite]:
        return iter(self.change(list(super().pipe(sentences))))


@pytest.mark.parametrize(
    "change",
    [
        lambda rewrites: rewrites[1:],
        lambda rewrites: rewrites[:-1],
        lambda rewrites: [*rewrites, rewrites[0]],
        lambda rewrites: reversed(rewrites),
        lambda rewrites: [each.model_copy(update={"source": "X."}) for each in rewrites],
    ],
    ids=["drops the first", "drops the last", "adds one", "reorders", "changes the source"],
)
def test_api_refuses_a_splitter_that_loses_or_moves_rewrites(
    change: Callable[[list[Rewrite]], Iterable[Rewrite]],
) -> None:
    with pytest.raises(ParataxisError) as caught:
        parataxis.split("One came. Two came. Three came.", splitter=UnreliableSplitter(change))
    assert str(caught.value) == (
        'The splitter "fake" did not return one rewrite for each sentence, in order and with the '
        "sentence as its source; correct or update it."
    )


@pytest.mark.parametrize("text", ["\ud800", "It rained.\n\nAnn sang\udfff."])
def test_api_refuses_a_lone_surrogate(text: str) -> None:
    with pytest.raises(InputError, match="is a lone surrogate"):
        parataxis.split(text)
    with pytest.raises(InputError) as caught:
        list(Splitter("source").pipe(["It rained.", "\ud800"]))
    assert str(caught.value) == (
        "Character 1 of the text is a lone surrogate (half a character); leave it out."
    )


def test_api_checks_only_when_asked() -> None:
    sentence = "Ann did not sing."
    assert Splitter(FakeSplitter())(sentence).findings is None
    findings = Splitter(FakeSplitter(), check=True)(sentence).findings
    assert findings is not None
    assert [(finding.kind, finding.words) for finding in findings] == [(FindingKind.LOST, "not")]
    assert Splitter(FakeSplitter(), check=True)("Ann sang; Bob left.").findings == ()


def test_api_strict_returns_the_source_and_says_why() -> None:
    rewrite = Splitter(FakeSplitter(), strict=True)("Ann did not sing.")
    assert (rewrite.simple, rewrite.splitter, rewrite.findings) == (
        ("Ann did not sing.",),
        "fake",
        (),
    )
    assert rewrite.note == (
        "Left whole because the checks fault the rewrite: the negation 'not' is missing."
    )
    assert str(parataxis.split("Ann did not sing.", splitter=FakeSplitter(), strict=True)) == (
        "Ann did not sing."
    )


def test_api_strict_keeps_a_rewrite_without_faults() -> None:
    rewrite = Splitter(FakeSplitter(), strict=True)("Ann sang; Bob left.")
    assert (rewrite.simple, rewrite.note) == (("Ann sang.", "Bob left."), None)


class SearchingSplitter(FakeSplitter):
    """Has two rewrites to choose from, and checks them itself."""

    def __init__(self, *, beam: int = 4, strict: bool = False) -> None:
        super().__init__()
        self.beam, self.strict = beam, strict

    def adjusted(self, settings: SplitSettings) -> "SearchingSplitter":
        return SearchingSplitter(beam=settings.beam or self.beam, strict=settings.strict)

    def __call__(self, sentence: str) -> Rewrite:
        simple = [sentence, f"Beam {self.beam}."]
        note = "strict" if self.strict else "not strict"
        return Rewrite(source=sentence, simple=simple, splitter=self.name, findings=(), note=note)


def test_api_adjusts_a_splitter_that_searches() -> None:
    own = SearchingSplitter()
    assert Splitter(own)("Ann sang.").simple[1] == "Beam 4."
    rewrite = Splitter(own, beam=2, strict=True)("Ann sang.")
    assert (rewrite.simple[1], rewrite.note) == ("Beam 2.", "strict")
    assert str(parataxis.split("Ann sang.", splitter=own, beam=8)) == "Ann sang. Beam 8."
    assert (own.beam, own.strict) == (4, False)


def test_api_does_not_check_again_what_comes_with_findings() -> None:
    # The checks would find that "Beam" is not in the source.
    assert Splitter(SearchingSplitter(), check=True)("Ann sang.").findings == ()


def test_api_refuses_a_beam_for_a_splitter_without_one() -> None:
    with pytest.raises(InputError) as caught:
        parataxis.split("It rained.", splitter="source", beam=2)
    assert str(caught.value) == (
        'The splitter "source" follows no beam; leave the beam out or choose another splitter.'
    )


def test_api_import_costs_nothing() -> None:
    program = (
        "import sys, parataxis; parataxis.__version__; "
        "heavy = {'pydantic', 'numpy', 'onnxruntime', 'typer', 'rich'} & set(sys.modules); "
        "sys.exit(', '.join(heavy) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_api_public_names_are_there() -> None:
    for name in parataxis.__all__:
        assert getattr(parataxis, name) is not None
        assert name in dir(parataxis)
    with pytest.raises(AttributeError, match="no attribute 'splitt'"):
        parataxis.splitt  # noqa: B018


@pytest.mark.parametrize(
    "sentence",
    [
        "See [the annex](https://example.com/a), which lists the fees, and pay them.",
        "Use `pipe`, which reads ahead, and close it.",
        "<b>The Buyer</b>, who lives in York, shall pay the price.",
    ],
)
def test_api_leaves_a_sentence_with_markup_whole(sentence: str) -> None:
    rewrite = parataxis.Splitter()(sentence)
    assert rewrite.simple == (sentence,)
    assert rewrite.note == (
        "Left whole because it holds a link, code or a tag, which a split could tear apart."
    )


def test_api_splits_beside_penn_treebank_quotes() -> None:
    sentence = "The film `` Psycho '' was praised, and the critics liked it."
    assert len(parataxis.Splitter("rules")(sentence).simple) == 2


def test_api_splitter_travels_to_other_processes_without_its_models() -> None:
    splitter = Splitter(strict=True, beam=2)
    before = pickle.dumps(splitter)
    rewrite = splitter(MILL)
    assert pickle.dumps(splitter) == before
    other = pickle.loads(before)
    assert (other.name, other.settings.strict, other.check) == ("pointer", True, True)
    assert other(MILL) == rewrite


LATE = (
    "If the goods, which the Buyer ordered in May, arrive late, the Buyer may refuse them, and the "
    "Seller, a company registered in Norway, shall repay the price."
)


def test_api_alternatives_are_other_rewrites_the_best_first() -> None:
    splitter = Splitter()
    found = splitter.alternatives(LATE)
    assert 3 <= len(found) <= 5
    assert splitter(LATE).simple in [each.simple for each in splitter.alternatives(LATE, most=99)]
    assert len({each.simple for each in found}) == len(found)
    assert all(each.source == LATE and each.is_split for each in found)
    order = [(bool(each.findings), -(each.confidence or 0)) for each in found]
    assert order == sorted(order)
    assert all(each.provenance is not None and each.findings is not None for each in found)
    assert splitter.alternatives(LATE, most=1) == found[:1]


@pytest.mark.parametrize("text", ["It rained.", "See [the list](a.md), which is long.", " "])
def test_api_alternatives_of_what_cannot_be_split(text: str) -> None:
    assert Splitter().alternatives(text) == []


def test_api_alternatives_of_a_sentence_left_whole_have_their_risk() -> None:
    source = (
        "Students who fail the exam may repeat it in the autumn term if they apply in writing "
        "before the end of July."
    )
    assert not Splitter()(source).is_split
    found = Splitter("rules").alternatives(source)
    assert found
    assert max(each.confidence or 0 for each in found) < 0.5


def test_api_phrases_are_kept_in_every_rewrite() -> None:
    ferry = (
        "Although the ferry had been repaired in March, its engine, built in 1987, failed twice in "
        "May, so the company sold it."
    )
    assert "sold it" not in " ".join(Splitter()(ferry).simple)
    splitter = Splitter(keep_phrases=["sold it"])
    rewrite = splitter(ferry)
    assert rewrite.is_split, "another rewrite keeps it"
    assert "sold it" in " ".join(rewrite.simple)
    assert all("sold it" in " ".join(each.simple) for each in splitter.alternatives(ferry))
    whole = Splitter(keep_phrases=["goods, which the buyer ordered"])(LATE)
    assert whole.simple == (LATE,)
    assert whole.note == (
        "Left whole because every rewrite that was found breaks the phrase "
        '"goods, which the buyer ordered".'
    )
    assert pickle.loads(pickle.dumps(splitter)).settings == splitter.settings


def test_api_phrases_are_kept_by_every_splitter() -> None:
    rewrite = Splitter(FakeSplitter(), keep_phrases=["came; Bob"])("Ann came; Bob left.")
    assert rewrite.simple == ("Ann came; Bob left.",)
    assert rewrite.note == 'Left whole because the rewrite breaks the phrase "came; Bob".'


@pytest.mark.parametrize("given", ["act of God", 5, [""], ["..", 3]])
def test_api_phrases_must_be_a_list(given: object) -> None:
    with pytest.raises(InputError, match="phrases to keep must be a list"):
        Splitter("source", keep_phrases=given)  # type: ignore[arg-type]
