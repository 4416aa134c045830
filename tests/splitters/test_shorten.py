"""How far to split: the levels, and sentences that have too many words."""

import pytest

import parataxis
from parataxis.errors import InputError
from parataxis.rewrite.align import align
from parataxis.rewrite.record import Level, Origin, Rewrite
from parataxis.splitters.registry import LevelledSplitter, load_splitter
from parataxis.splitters.settings import SplitSettings, too_long, word_count

CURIE = "Marie Curie, a Polish physicist who won two Nobel Prizes, died in 1934 in France."
LEASE = "If the tenant fails to pay, the landlord may end the lease and keep the deposit."
COMMITTEE = (
    "The committee, which meets monthly in Geneva, approved the budget for the coming year on "
    "Tuesday, and its chair, who had opposed the plan, resigned the same evening."
)
SERVER = (
    "The server MUST validate the token, MUST reject expired requests, and MUST write an audit "
    "record."
)


@pytest.mark.parametrize(
    ("level", "source", "simple"),
    [
        ("light", CURIE, [CURIE]),
        ("light", LEASE, [LEASE]),
        ("light", SERVER, [SERVER]),
        (
            "light",
            COMMITTEE,
            [
                "The committee, which meets monthly in Geneva, approved the budget for the coming "
                "year on Tuesday.",
                "Its chair, who had opposed the plan, resigned the same evening.",
            ],
        ),
        (
            "plain",
            CURIE,
            [
                "Marie Curie was a Polish physicist who won two Nobel Prizes.",
                "Marie Curie died in 1934 in France.",
            ],
        ),
        ("plain", LEASE, [LEASE]),
        (
            "atomic",
            CURIE,
            [
                "Marie Curie was a Polish physicist.",
                "Marie Curie won two Nobel Prizes.",
                "Marie Curie died in 1934.",
                "Marie Curie died in France.",
            ],
        ),
        (
            "atomic",
            LEASE,
            [
                "If the tenant fails to pay, the landlord may end the lease.",
                "If the tenant fails to pay, the landlord may keep the deposit.",
            ],
        ),
        (
            "atomic",
            SERVER,
            [
                "The server MUST validate the token.",
                "The server MUST reject expired requests.",
                "The server MUST write an audit record.",
            ],
        ),
    ],
)
def test_levels_say_how_far_to_split(level: str, source: str, simple: list[str]) -> None:
    rewrite = parataxis.Splitter(level=level)(source)
    assert list(rewrite.simple) == simple
    assert rewrite.level == (None if level == "plain" else level)


@pytest.mark.parametrize(
    ("limit", "level", "simple", "note"),
    [
        (
            12,
            "light",
            [
                "The committee approved the budget for the coming year on Tuesday.",
                "It meets monthly in Geneva.",
                "Its chair, who had opposed the plan, resigned the same evening.",
            ],
            None,
        ),
        (
            10,
            "light",
            [
                "The committee approved the budget for the coming year on Tuesday.",
                "It meets monthly in Geneva.",
                "Its chair had opposed the plan.",
                "Its chair resigned the same evening.",
            ],
            "Still over the limit of 10 words: sentence 1 (11).",
        ),
    ],
)
def test_shorten_splits_only_what_is_too_long(
    limit: int, level: str, simple: list[str], note: str | None
) -> None:
    rewrite = parataxis.Splitter(level=level, max_words=limit)(COMMITTEE)
    assert (list(rewrite.simple), rewrite.note) == (simple, note)
    assert (rewrite.findings, rewrite.level) == ((), level)


@pytest.mark.parametrize("source", [CURIE, COMMITTEE, SERVER])
def test_shorten_traces_each_word_to_the_source(source: str) -> None:
    rewrite = parataxis.Splitter(level="light", max_words=5)(source)
    assert rewrite.provenance is not None
    for sentence, tokens in zip(rewrite.simple, rewrite.provenance, strict=True):
        for token in tokens:
            assert sentence[token.start : token.end] == token.text
            if token.origin is Origin.COPIED:
                assert token.source is not None
                start, end = token.source
                assert source[start:end].casefold() == token.text.casefold()
            assert (token.source is None) == (token.origin is Origin.INSERTED)


def test_shorten_takes_the_least_confidence() -> None:
    light = parataxis.Splitter(level="light")(COMMITTEE)
    shorter = parataxis.Splitter(level="light", max_words=10)(COMMITTEE)
    assert light.confidence is not None
    assert shorter.confidence is not None
    assert shorter.confidence < light.confidence


def test_shorten_is_strict_where_that_is_asked_for() -> None:
    rewrite = parataxis.Splitter(max_words=10, strict=True)(LEASE)
    assert rewrite.simple == (LEASE,)
    assert rewrite.note == "Still over the limit of 10 words: sentence 1 (16)."
    assert len(parataxis.Splitter(max_words=10)(LEASE).simple) == 2


class Fixed:
    """Rewrites as a table says, and leaves all else whole; rewrites come without provenance."""

    name, summary = "fixed", "A table of rewrites."

    def __init__(self, table: dict[str, list[str]]) -> None:
        self.table = table

    def __call__(self, sentence: str) -> Rewrite:
        return Rewrite(
            source=sentence, simple=self.table.get(sentence, [sentence]), splitter=self.name
        )

    def pipe(self, sentences: list[str]) -> list[Rewrite]:
        return [self(sentence) for sentence in sentences]


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        # Split again by the splitter itself.
        (["Bob left the town by train.", "Eve stayed at home."], 3),
        # The number is lost, so it stays.
        (["Bob left.", "Eve stayed."], 2),
    ],
)
def test_shorten_by_a_splitter_without_levels(parts: list[str], expected: int) -> None:
    rest = "Bob left the town by train on 5 May, Eve stayed at home."
    source = f"Ann took the ferry at noon, and {rest}"
    given = [each.replace("train", "train on 5 May") for each in parts]
    own = Fixed({source: ["Ann took the ferry at noon.", rest], rest: given})
    rewrite = parataxis.Splitter(own, max_words=9, strict=True)(source)  # type: ignore[arg-type]
    assert len(rewrite.simple) == expected
    if expected == 3:
        assert rewrite.provenance == align(source, rewrite.simple)


def test_shorten_leaves_items_of_lists_whole() -> None:
    item = "the mill, which was built in 1850, which burned down in May and which Ann sold; and"
    rewrite = parataxis.Splitter(max_words=5)(item)
    assert rewrite.simple == (item,)
    assert (rewrite.note or "").endswith("Still over the limit of 5 words: sentence 1 (17).")


@pytest.mark.parametrize("splitter", ["rules", "source"])
@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"level": "atomic"}, "has no levels; leave the level"),
        ({"level": "light"}, "has no levels; leave the level"),
        ({"confidence": 0.5}, "gives no confidence; leave the confidence"),
    ],
)
def test_levels_are_refused_by_a_splitter_without_them(
    splitter: str, options: SplitSettings, problem: str
) -> None:
    with pytest.raises(InputError) as caught:
        parataxis.Splitter(splitter, **options)  # type: ignore[arg-type]
    assert str(caught.value) == (
        f'The splitter "{splitter}" {problem} out or choose another splitter.'
    )
    parataxis.Splitter(splitter, level="plain")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": "deep"}, 'There is no level "deep"; there are: light, plain, atomic.'),
        ({"confidence": 1.5}, "The confidence must be from 0 to 1, not 1.5."),
        ({"max_words": 0}, "The limit must be at least one word, not 0."),
    ],
)
def test_settings_refuse_what_is_wrong(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        parataxis.Splitter("source", **options)  # type: ignore[arg-type]
    assert str(caught.value) == message


def test_settings_of_a_splitter_are_kept_where_no_others_are_given() -> None:
    atomic = SplitSettings(level=Level.ATOMIC, beam=2)
    assert atomic.merged(SplitSettings(strict=True)) == SplitSettings(
        level=Level.ATOMIC, beam=2, strict=True
    )
    assert atomic.merged(SplitSettings(beam=3)).beam == 3


def test_levels_of_the_installed_splitters() -> None:
    assert isinstance(load_splitter("pointer"), LevelledSplitter)
    assert not isinstance(load_splitter("seq2seq"), LevelledSplitter)


def test_words_are_counted_as_writers_do() -> None:
    assert word_count('Ann (42) didn\'t say "no" - ever.') == 6
    whole = Rewrite(source=CURIE, simple=[CURIE], splitter="source")
    assert (too_long(whole, 14), too_long(whole, 15)) == ({0: 15}, {})
