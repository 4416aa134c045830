"""Which rewrite is taken: the preferred one that the checks pass, else another, else the source."""

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parataxis.checks import Checker
from parataxis.checks.verifier import MORE, OUTPUTS, RewriteVerdict
from parataxis.rewrite.record import Finding, FindingKind, Level, Rewrite
from parataxis.splitters.pointer.actions import COPY, NEXT
from parataxis.splitters.pointer.choose import (
    BLOCKING,
    CLOSE,
    SURE,
    SURELY_WHOLE,
    Evidence,
    Verifying,
    choose,
    compose_found,
    confidence,
)
from parataxis.splitters.pointer.search import Found, Hypothesis
from parataxis.syntax.analyser import Analyser, load_analyser

Write = Callable[..., list[int]]

POET = "Mother, who wrote 5 plays, died in York."
PLAIN = "Mother died in York and wrote 5 plays."
GOOD = ["Mother died in York", "[she] wrote 5 plays"]
NO_NUMBER = ["Mother died in York", "[she] wrote plays"]
NO_VERB = ["Mother died in York", "5 plays wrote/NN", "Mother wrote"]
FRAGMENT = ["Mother died in York", "[because] Mother wrote 5 plays"]
CLEAN = ("Mother died in York.", "She wrote 5 plays.")


def verdict(rewrite: Sequence[str], risk: float, further: float = 0.0) -> RewriteVerdict:
    faults = np.full((len(rewrite), OUTPUTS), risk, np.float32)
    faults[:, MORE] = further
    return RewriteVerdict(0.0, faults)


def in_order(source: str, rewrites: Sequence[Sequence[str]], *level: Level) -> list[RewriteVerdict]:
    """Is surest of the rewrites that were found first, and would split the source."""
    return [
        verdict(each, 0.0, 0.9) if [*each] == [source] else verdict(each, 0.001 * number)
        for number, each in enumerate(rewrites)
    ]


def whole_first(
    source: str, rewrites: Sequence[Sequence[str]], *level: Level
) -> list[RewriteVerdict]:
    """Prefers the source itself."""
    return [
        verdict(each, 0.0) if [*each] == [source] else verdict(each, 0.9, 0.9) for each in rewrites
    ]


def doubtful(source: str, rewrites: Sequence[Sequence[str]], *level: Level) -> list[RewriteVerdict]:
    """Thinks a fault in every rewrite possible, but would split the source."""
    return [
        verdict(each, 0.0, 0.9) if [*each] == [source] else verdict(each, 0.6) for each in rewrites
    ]


@pytest.fixture(scope="module")
def checker() -> Checker:
    return Checker(load_analyser())


@pytest.fixture
def chosen(analyser: Analyser, checker: Checker, write: Write) -> Callable[..., Rewrite]:
    """Choose among rewrites of a source, each as in ``actions`` of conftest.py, best first."""

    def choose_one(
        source: str,
        *rewrites: list[str],
        whole: float = 0.0,
        strict: bool = False,
        verifying: Verifying = in_order,
        level: Level = Level.PLAIN,
    ) -> Rewrite:
        found = _found(source, rewrites, whole, write)
        least = SURE if strict else 0.0
        sources = [(analyser(source), found)]
        return choose(sources, checker, verifying, level=level, strict=strict, least=least)[0]

    return choose_one


def _found(source: str, rewrites: Iterable[list[str]], whole: float, write: Write) -> Found:
    actions = [write(source, *rewrite) for rewrite in rewrites]
    return Found(whole, tuple(Hypothesis(tuple(each), -0.1 * n) for n, each in enumerate(actions)))


def test_choose_takes_the_likeliest_without_a_finding(chosen: Callable[..., Rewrite]) -> None:
    rewrite = chosen(POET, GOOD, NO_NUMBER)
    assert (rewrite.simple, rewrite.findings, rewrite.note) == (CLEAN, (), None)
    assert (rewrite.source, rewrite.splitter) == (POET, "pointer")
    assert rewrite.provenance is not None
    assert [token.text for token in rewrite.provenance[1] if token.source is None] == ["She", "."]


def test_choose_takes_the_second_where_the_first_loses_a_number(
    chosen: Callable[..., Rewrite],
) -> None:
    rewrite = chosen(POET, NO_NUMBER, GOOD)
    assert (rewrite.simple, rewrite.findings) == (CLEAN, ())
    assert rewrite.note == (
        "This is not the preferred rewrite: in that one, the number '5' is missing."
    )


def test_choose_leaves_the_source_whole_where_every_rewrite_loses_something(
    chosen: Callable[..., Rewrite],
) -> None:
    rewrite = chosen(POET, NO_NUMBER, ["Mother died", "[she] wrote 5 plays"])
    assert (rewrite.simple, rewrite.findings) == ((POET,), ())
    assert rewrite.note == (
        "Left whole because the checks fault every rewrite that was found; in the best one, "
        "the number '5' is missing."
    )


def test_choose_keeps_what_does_not_rule_a_rewrite_out(chosen: Callable[..., Rewrite]) -> None:
    rewrite = chosen(POET, FRAGMENT, NO_NUMBER)
    assert rewrite.simple == ("Mother died in York.", "Because mother wrote 5 plays.")
    assert rewrite.findings is not None
    assert [finding.kind for finding in rewrite.findings] == [FindingKind.FRAGMENT]
    assert rewrite.note is None


def test_choose_prefers_one_without_a_finding_further_down(chosen: Callable[..., Rewrite]) -> None:
    rewrite = chosen(POET, FRAGMENT, NO_NUMBER, GOOD)
    assert (rewrite.simple, rewrite.findings) == (CLEAN, ())
    assert rewrite.note == (
        "This is not the preferred rewrite: in that one, 'Because mother wrote 5 plays.' is only a "
        "part of a sentence: its main clause is missing."
    )


def test_choose_strict_refuses_a_fragment(chosen: Callable[..., Rewrite]) -> None:
    rewrite = chosen(POET, FRAGMENT, strict=True)
    assert rewrite.simple == (POET,)
    assert rewrite.note == (
        "Left whole because the checks fault every rewrite that was found; in the best one, "
        "'Because mother wrote 5 plays.' is only a part of a sentence: its main clause is missing."
    )
    assert chosen(POET, FRAGMENT, GOOD, strict=True).simple == CLEAN


def test_choose_strict_refuses_an_ambiguous_pronoun(chosen: Callable[..., Rewrite]) -> None:
    source = "The castle overlooks the village, which was founded in 1300."
    pronoun = ["The castle overlooks the village", "[it] was founded in 1300"]
    noun = ["The castle overlooks the village", "the#2 village was founded in 1300"]
    assert chosen(source, pronoun).simple[1] == "It was founded in 1300."
    assert chosen(source, pronoun, strict=True).simple == (source,)
    assert (
        chosen(source, pronoun, noun, strict=True).simple[1] == "The village was founded in 1300."
    )


@pytest.mark.parametrize(
    ("source", "doing", "message"),
    [
        ("Mother, born in York, sang 5 songs.", ["Mother sang songs", "Mother [was] born in York"],
         "the number '5' is missing"),
        ("Mother, born in York, sang 5 songs.", ["Mother sang 5 songs", "Mother [was] born"],
         "the name 'York' is missing"),
        ("Mother, who is old, did not sing.", ["Mother did sing", "Mother is old"],
         "the negation 'not' is missing"),
        ("The Buyer, who must pay, may leave.", ["The Buyer may leave", "The Buyer pay/VBZ"],
         "the modal verb 'must' is missing"),
        ("The Buyer, who must pay, may leave.", ["The Buyer may leave", "The Buyer may pay"],
         "the modal verb 'must' is missing"),
        ("Bob, who is old, wrote “My Life”.", ["Bob wrote my life", "Bob is old"],
         "the quotation marks around 'My Life' are missing"),
        ("Bob, who is old, wrote “My Life”.", ["Bob wrote “ my ”", "Bob is old"],
         "the quotation 'Life' is missing"),
    ],
)  # fmt: skip
def test_choose_loses_none_of_the_five(
    chosen: Callable[..., Rewrite], source: str, doing: list[str], message: str
) -> None:
    rewrite = chosen(source, doing)
    assert rewrite.simple == (source,)
    assert message in (rewrite.note or "")


def test_choose_leaves_whole_what_should_stay_whole(chosen: Callable[..., Rewrite]) -> None:
    assert chosen(PLAIN, GOOD, whole=SURELY_WHOLE).simple == (PLAIN,)
    assert chosen(PLAIN, GOOD, whole=SURELY_WHOLE).note is None
    assert chosen(PLAIN, GOOD, whole=SURELY_WHOLE - 0.01).simple == CLEAN


def test_choose_lets_the_verifier_prefer_the_source(chosen: Callable[..., Rewrite]) -> None:
    rewrite = chosen(PLAIN, GOOD, whole=0.4, verifying=whole_first)
    assert (rewrite.simple, rewrite.note, rewrite.confidence) == ((PLAIN,), None, None)
    assert chosen(PLAIN, GOOD, whole=0.4).simple == CLEAN


def test_choose_takes_the_source_for_a_rewrite_of_one_sentence(
    chosen: Callable[..., Rewrite],
) -> None:
    one = ["Mother [,] who wrote 5 plays [,] died [in] [the] York"]
    rewrite = chosen(POET, one, GOOD, verifying=whole_first)
    assert (rewrite.simple, rewrite.note, rewrite.findings) == ((POET,), None, ())
    assert chosen(POET, one).note is None
    assert chosen(POET, NO_NUMBER, one, GOOD).simple == CLEAN


def test_choose_asks_about_candidates_that_are_close(
    analyser: Analyser, checker: Checker, write: Write
) -> None:
    asked: list[int] = []

    def counting(
        source: str, rewrites: Sequence[Sequence[str]], *level: Level
    ) -> list[RewriteVerdict]:
        asked.append(len(rewrites))
        return in_order(source, rewrites)

    def run(*log_chances: float, whole: float = 0.0) -> None:
        rewrites = [GOOD, FRAGMENT, NO_NUMBER]
        hypotheses = [
            Hypothesis(tuple(write(POET, *rewrite)), -0.1, chance)
            for rewrite, chance in zip(rewrites, log_chances, strict=False)
        ]
        choose([(analyser(POET), Found(whole, tuple(hypotheses)))], checker, counting)

    run(-0.5, whole=0.9)
    assert asked == []
    run(-0.5)
    run(-0.5, -0.6, -0.4 - CLOSE)
    run(-0.5, -0.6, -0.6 - CLOSE)
    assert asked == [2, 4, 3]  # the source is judged, too


def test_choose_says_where_nothing_could_be_written(chosen: Callable[..., Rewrite]) -> None:
    rewrite = chosen(POET, ["Mother in/NNS York"])
    assert rewrite.simple == (POET,)
    assert rewrite.note == "Left whole because no rewrite was found that is sure enough."
    assert chosen(POET).note == rewrite.note


def test_choose_drops_empty_sentences_and_equal_rewrites(analyser: Analyser, write: Write) -> None:
    rewrites = [GOOD, ["Mother died in York", "[,]", "[she] wrote 5 plays"], GOOD, NO_NUMBER]
    found = _found(POET, rewrites, 0.0, write)
    assert [candidate.simple for candidate in compose_found(analyser(POET), found)] == [
        CLEAN,
        ("Mother died in York.", "She wrote plays."),
    ]


class CountingChecker(Checker):
    """Remembers how many rewrites were checked in each round."""

    def __init__(self, analyser: Analyser) -> None:
        super().__init__(analyser)
        self.rounds: list[int] = []

    def pipe(self, rewrites, *known) -> Iterator[list[Finding]]:  # type: ignore[no-untyped-def]
        listed = list(rewrites)
        self.rounds.append(len(listed))
        return super().pipe(listed, *known)


def test_choose_checks_no_more_than_it_must(analyser: Analyser, write: Write) -> None:
    checker = CountingChecker(analyser)
    sources = [
        (analyser(POET), _found(POET, rewrites, whole, write))
        for rewrites, whole in [
            ([GOOD, NO_NUMBER], 0.0),
            ([NO_NUMBER, GOOD], 0.0),
            ([GOOD], 1.0),
            ([NO_NUMBER, FRAGMENT, GOOD, NO_VERB], 0.0),
        ]
    ]
    rewrites = choose(sources, checker, in_order)
    assert [rewrite.simple for rewrite in rewrites] == [CLEAN, CLEAN, (POET,), CLEAN]
    assert checker.rounds == [3, 2, 1]


_TEXTS = [
    POET,
    "Voiced by Mother, the cat (a tabby) may not sing “Blue” in the U.S. for $5.",
    'The Lords, who met in May 2012, "may not" vote on Art. 5, said Bob\'s aunt.',
]
_ACTIONS = st.lists(st.integers(0, COPY + 20), max_size=30).map(tuple)


@settings(max_examples=60)
@given(st.sampled_from(_TEXTS), st.lists(_ACTIONS, max_size=3), st.booleans())
def test_choose_gives_out_nothing_that_is_ruled_out(
    text: str, sequences: list[tuple[int, ...]], strict: bool
) -> None:
    """Whatever the model does, a rewrite that loses, adds or repeats something is not taken."""
    analyser = load_analyser()
    copied = tuple(COPY + place for place in range(len(analyser(text))))
    # Sequences that say everything have a chance to be taken.
    hypotheses = [Hypothesis((*copied, NEXT, *each), -0.1) for each in sequences]
    (rewrite,) = choose(
        [(analyser(text), Found(0.0, tuple(hypotheses)))],
        Checker(analyser),
        in_order,
        strict=strict,
    )
    assert rewrite.source == text
    findings = Checker(analyser)(text, rewrite.simple, rewrite.provenance)
    assert tuple(findings) == rewrite.findings
    blocking = set(FindingKind) if strict else BLOCKING
    assert blocking.isdisjoint(finding.kind for finding in findings)
    assert rewrite.is_split or rewrite.simple == (text,)


def test_choose_takes_no_rewrite_with_a_wrong_relation(chosen: Callable[..., Rewrite]) -> None:
    source = "The carrier sold the goods because nobody had signed for them."
    wrong = ["The carrier sold the goods", "[this] [is] because nobody had signed for the carrier"]
    right = ["The carrier sold the goods", "[this] [is] because nobody had signed for them"]
    assert chosen(source, wrong, right).simple[1] == "This is because nobody had signed for them."
    assert chosen(source, wrong).note == (
        "Left whole because the checks fault every rewrite that was found; in the best one, "
        "is 'the carrier' right with 'signed'? The source does not say this of it."
    )


def test_choose_is_not_sure_of_long_nonsense() -> None:
    for level in Level:
        assert confidence(Evidence(9.0, -5000.0, 9000.0), level) == pytest.approx(0)
        assert confidence(Evidence(-9.0, 0.0, 0.0), level) > 0.8


def test_choose_says_how_sure_it_is(chosen: Callable[..., Rewrite]) -> None:
    sure, unsure = chosen(POET, GOOD), chosen(POET, GOOD, verifying=doubtful)
    assert sure.simple == unsure.simple == CLEAN
    assert unsure.confidence is not None
    assert sure.confidence is not None
    assert unsure.confidence < SURE < sure.confidence


@pytest.mark.parametrize(
    ("source", "rewrite", "simple"),
    [
        (POET, GOOD, (POET,)),
        (PLAIN, ["Mother died in York", "Mother wrote 5 plays"], (PLAIN,)),
        (
            "Mother died in York, and she wrote 5 plays.",
            ["Mother died in York", "she wrote 5 plays"],
            CLEAN,
        ),
        (
            "In May Mother died in York, and she wrote 5 plays.",
            ["In May Mother died in York", "In May , she wrote 5 plays"],
            ("In May Mother died in York.", "In May, she wrote 5 plays."),
        ),
        (
            "Mother died in York, although she wrote 5 plays.",
            ["Mother died in York", "[however] [,] she wrote 5 plays"],
            ("Mother died in York, although she wrote 5 plays.",),
        ),
        (
            "Writing plays; there is nothing else that Mother liked.",
            ["Writing plays", "there is nothing else that Mother liked"],
            ("Writing plays; there is nothing else that Mother liked.",),
        ),
    ],
)
def test_choose_splits_short_sources_only_between_main_clauses_at_the_level_light(
    chosen: Callable[..., Rewrite], source: str, rewrite: list[str], simple: tuple[str, ...]
) -> None:
    found = chosen(source, rewrite, level=Level.LIGHT)
    assert (found.simple, found.note) == (simple, None)


def test_choose_says_nothing_twice_at_the_level_atomic(chosen: Callable[..., Rewrite]) -> None:
    twice = ["Mother died", "Mother died in York", "Mother wrote 5 plays"]
    assert chosen(POET, twice, level=Level.ATOMIC).simple == (POET,)
    once = ["Mother died in York", "Mother wrote 5 plays"]
    assert chosen(POET, once, level=Level.ATOMIC).is_split


def test_choose_says_whether_a_sentence_should_be_split_further(
    chosen: Callable[..., Rewrite],
) -> None:
    def unfinished(
        source: str, rewrites: Sequence[Sequence[str]], *level: Level
    ) -> list[RewriteVerdict]:
        found = in_order(source, rewrites)
        for each in found:
            each.faults[0, MORE] = 0.5
        return found

    finished, doubted = chosen(POET, GOOD), chosen(POET, GOOD, verifying=unfinished)
    assert (finished.further, doubted.further) == (0.0, 0.5)
    assert finished.confidence == doubted.confidence


def test_choose_strictly_takes_nothing_it_is_not_sure_of(chosen: Callable[..., Rewrite]) -> None:
    rewrite = chosen(POET, GOOD, strict=True, verifying=doubtful)
    assert rewrite.simple == (POET,)
    assert rewrite.note == "Left whole because no rewrite was found that is sure enough."
    assert chosen(POET, GOOD, strict=True).simple == CLEAN


def test_choose_leaves_whole_what_is_probably_wrong(chosen: Callable[..., Rewrite]) -> None:
    def wrong(
        source: str, rewrites: Sequence[Sequence[str]], *level: Level
    ) -> list[RewriteVerdict]:
        return [verdict(rewrite, 0.9999, 0.99) for rewrite in rewrites]

    rewrite = chosen(POET, GOOD, verifying=wrong)
    assert (rewrite.simple, rewrite.note) == ((POET,), None)
