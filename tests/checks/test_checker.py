from collections.abc import Iterable, Iterator

from hypothesis import example, given, settings
from hypothesis import strategies as st

from parataxis.checks import Checker, check
from parataxis.errors import TooLongError
from parataxis.rewrite.align import align
from parataxis.rewrite.record import Rewrite
from parataxis.syntax.analyser import load_analyser
from parataxis.syntax.analysis import Analysis


class _Deaf:
    """An analyser that finds every sentence too long, and counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def pipe(self, sentences: Iterable[str]) -> Iterator[Analysis | TooLongError]:
        for sentence in sentences:
            self.asked.append(sentence)
            yield TooLongError("too long")


def test_checker_leaves_an_unchanged_sentence_alone() -> None:
    analyser = _Deaf()
    assert Checker(analyser)("Whereas nothing.", ["Whereas nothing."]) == []
    assert analyser.asked == []


def test_checker_makes_the_word_checks_where_a_sentence_is_too_long() -> None:
    findings = Checker(_Deaf())("He may not go, and she may.", ["He may go.", "She may."])
    assert [finding.words for finding in findings] == ["not"]


class _Curious(_Deaf):
    """An analyser that counts what it is asked."""

    def pipe(self, sentences: Iterable[str]) -> Iterator[Analysis | TooLongError]:
        listed = list(sentences)
        self.asked += listed
        return load_analyser().pipe(listed)


def test_checker_asks_for_each_sentence_once() -> None:
    analyser = _Curious()
    list(Checker(analyser).pipe([("A b.", ["A.", "A."]), ("A b.", ["B.", "A."])]))
    assert analyser.asked == ["A b.", "A.", "B."]


def test_checker_asks_only_for_what_could_be_at_fault() -> None:
    source, simple = "The inn, built in 1900, burned.", ["The inn burned.", "Built in 1900."]
    analyser = _Curious()
    findings = Checker(analyser)(source, simple, align(source, simple))
    assert analyser.asked == [source, "Built in 1900."]
    assert [finding.words for finding in findings] == ["Built in 1900."]


def test_checker_pipe_gives_what_calls_give(checker: Checker) -> None:
    rewrites = [
        ("Ann, who is 30, sings.", ["Ann sings.", "Ann is."]),
        ("It rained.", ["It rained."]),
        ("The inn, built in 1900, burned.", ["The inn burned.", "Built in 1900."]),
    ]
    assert list(checker.pipe(rewrites)) == [checker(*rewrite) for rewrite in rewrites]


def test_checker_takes_provenance(checker: Checker) -> None:
    source, simple = "The inn, built in 1900, burned.", ["The inn burned.", "Built in 1900."]
    assert checker(source, simple, align(source, simple)) == checker(source, simple)


def test_checker_takes_the_analyses_of_sources() -> None:
    sources = ["The inn, built in 1900, burned.", "Ann, who is 30, sings.", "Ann saw it, and left."]
    rewrites = [
        (sources[0], ["The inn burned.", "Built in 1900."]),
        (sources[1], ["Ann sings.", "Which is 30."]),
        (sources[2], ["Ann saw it.", "Ann."]),
    ]
    provenances = [align(source, simple) for source, simple in rewrites]
    analyses = [load_analyser()(sources[0]), None, load_analyser()(sources[2])]
    asked, expected = _Curious(), _Curious()
    findings = list(Checker(asked).pipe(rewrites, provenances, analyses))
    assert findings == list(Checker(expected).pipe(rewrites, provenances))
    assert all(findings)
    assert asked.asked == [text for text in expected.asked if text not in (sources[0], sources[2])]


def test_checker_without_an_analyser_makes_the_word_checks_only() -> None:
    source, simple = "The inn, built in 1900, burned.", ["The inn burned.", "Built in 1900."]
    assert list(Checker().pipe([(source, simple)], None, [load_analyser()(source)])) == [[]]


def test_checker_findings_fit_the_record() -> None:
    source, simple = "Ann, who is 30, sings.", ["Ann sings.", "Ann sings."]
    rewrite = Rewrite(source=source, simple=simple, splitter="mine", findings=check(source, simple))
    assert rewrite.findings is not None
    assert [finding.kind.value for finding in rewrite.findings] == ["lost", "repeated"]


_WORDS = ["The", "not", "5", "Ann", "ran,", "(ii)", "may", ".", "May", "unless", "he", '"', "save"]
_TEXT = st.text(max_size=30) | st.lists(st.sampled_from(_WORDS), max_size=10).map(" ".join)


@settings(max_examples=80, deadline=None)
@given(_TEXT, st.lists(_TEXT, max_size=3))
def test_checker_findings_name_the_words_where_they_stand(source: str, simple: list[str]) -> None:
    for finding in check(source, simple):
        text = source if finding.sentence is None else simple[finding.sentence]
        assert text[finding.start : finding.end] == finding.words
        assert finding.words
        assert finding.message


@settings(max_examples=40, deadline=None)
@given(_TEXT)
def test_checker_finds_nothing_lost_or_new_in_a_copy(source: str) -> None:
    assert {f.kind.value for f in check(source, [source, "."])} <= {"ambiguous-pronoun"}


_FUNCTION_WORDS = (
    "it he they who which whose that because if although whilst of in the and or to was not may "
    "built house Otto said , . ; ( ) ? : -5 %"
)
_FUNCTION_TEXT = st.lists(st.sampled_from(_FUNCTION_WORDS.split()), max_size=7).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(_FUNCTION_TEXT, st.lists(_FUNCTION_TEXT, max_size=3))
@example("", ["", ""])
@example("He left because of it.", ["Of which if"])  # a subordinator as the last word
@example("the of, which was in", ["of the", "it was in"])
def test_checker_takes_any_analysis_of_odd_texts(source: str, simple: list[str]) -> None:
    for finding in check(source, simple, analyser=load_analyser()):
        assert finding.message
