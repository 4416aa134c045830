"""A splitter that reproduces its training set is exposed; one that copies, or that is right about a
leaky evaluation set, is not."""

from collections.abc import Callable, Iterable

import pytest

from parataxis.evaluate.corpora.example import Example, Triple
from parataxis.evaluate.corpora.leaks import find_overlaps
from parataxis.lab.diagnose.memorisation import (
    Memorisation,
    TrainingMemory,
    VerdictLevel,
    examine,
    probe_source,
)
from parataxis.report import ReportFormat
from parataxis.rewrite.record import Rewrite

FACTS = {
    "Vell Tower": ["Vell Tower has 12 floors .", "Vell Tower was designed by Ada Morrow ."],
    "Ada Morrow": ["Ada Morrow was born in Lund .", "Ada Morrow won the Orla Prize ."],
    "Lund": ["Lund is led by Per Hall .", "Lund has 8000 people ."],
}
TRAIN = [
    Example(
        f"{first[:-2]} and {second} ",
        ((first, second),),
        f"train:{name}",
        frozenset([Triple(name.replace(" ", "_"), "said", "x")]),
    )
    for name, (first, second) in FACTS.items()
]
LEAKY = [
    Example(
        f"{name} , {second.removeprefix(name)[1:-2]} , {first.removeprefix(name)[1:]}",
        ((first, second),),
        f"test:{name}",
    )
    for name, (first, second) in FACTS.items()
]
FRESH = [
    Example("Rao Hall , which has 3 floors , is in Oslo .", (), "test:1"),
    Example("Ada Morrow , who won nothing , met Kim Bo .", (), "test:2"),
]


def parrot(source: str) -> list[str]:
    """Knows the entities of its training set and little else."""
    for name, facts in FACTS.items():
        if name in source:
            return facts
    return FACTS["Lund"]


def copier(source: str) -> list[str]:
    return [source]


def inventor(source: str) -> list[str]:
    return [f"{source.split()[0]} was painted by Zed Quill in 1777 ."]


def reader(source: str) -> list[str]:
    """Right about every source of the leaky set."""
    known = {example.source: example.references[0] for example in LEAKY}
    return list(known.get(source, [source]))


def diagnose(splitter: Callable[[str], list[str]], evaluation: Iterable[Example]) -> Memorisation:
    examples = list(evaluation)

    def rewrite(source: str) -> Rewrite:
        return Rewrite(source=source, simple=splitter(source), splitter="x")

    written = [rewrite(example.source) for example in examples]
    answers = [rewrite(probe_source(name)) for name in FACTS]
    references = [
        Rewrite(source=example.source, simple=simple, splitter="reference")
        for example in examples
        for simple in example.references
    ]
    memory = TrainingMemory(s for each in [*written, *answers, *references] for s in each.simple)
    overlaps = find_overlaps(memory.watch(TRAIN), {"test": examples}, near=1.0)["test"]
    return Memorisation(
        "x",
        "train",
        "test",
        examine(written, memory),
        examine(references, memory) if references else None,
        examine(answers, memory, every_word=True),
        overlaps,
    )


@pytest.mark.parametrize(
    ("splitter", "evaluation", "level"),
    [
        (parrot, LEAKY, VerdictLevel.RECITES),
        (parrot, FRESH, VerdictLevel.RECITES),
        (copier, LEAKY, VerdictLevel.CLEAN),
        (copier, FRESH, VerdictLevel.CLEAN),
        (reader, LEAKY, VerdictLevel.CLEAN),
        (inventor, FRESH, VerdictLevel.INVENTS),
    ],
)
def test_verdict(
    splitter: Callable[[str], list[str]], evaluation: list[Example], level: VerdictLevel
) -> None:
    assert diagnose(splitter, evaluation).level is level


def test_verdict_of_a_parrot_names_what_it_recites() -> None:
    found = diagnose(parrot, FRESH)
    assert (found.predictions.sentences, found.predictions.verbatim) == (4, 4)
    assert found.predictions.recited == 4
    first = found.predictions.said[0]
    assert first.sentence == "Lund is led by Per Hall ."
    assert first.training == "train:Lund"
    assert found.probes is not None
    assert (found.probes.unsupported_sources, found.probes.recited_sources) == (3, 3)
    assert "has memorised its training set" in found.headline()
    assert '3 times (100.0 %) with a sentence of the training set. Given "Vell Tower" alone' in (
        " ".join(found.sentences())
    )


def test_verdict_of_a_copier_is_that_its_probes_come_back() -> None:
    found = diagnose(copier, FRESH)
    assert found.predictions.verbatim == 0
    assert "never said anything that was not in the input" in " ".join(found.sentences())


def test_verdict_tells_a_leaky_evaluation_set() -> None:
    found = diagnose(reader, LEAKY)
    assert found.predictions.verbatim == found.predictions.sentences == 6
    assert found.predictions.recited == 0
    assert found.is_leaky
    assert "says little about splitting" in found.sentences()[-1]
    assert not diagnose(reader, FRESH).is_leaky


def test_verdict_is_measured_against_the_references() -> None:
    """What references themselves add is rephrasing, and no sign of memory."""
    rewrite = Rewrite(
        source="Ada was born in the US .", simple=["Ada was born in Utah ."], splitter="x"
    )
    seen = Example("A b .", (("Ada was born in Utah .",),), "train:1")
    memory = TrainingMemory(rewrite.simple)
    assert len(list(memory.watch([seen]))) == 1
    own = examine([rewrite], memory)
    assert own.recited == 1
    assert Memorisation("x", "train", "test", own).level is VerdictLevel.RECITES
    assert Memorisation("x", "train", "test", own, references=own).level is VerdictLevel.CLEAN


def test_verdict_between_a_habit_and_nothing() -> None:
    slip = Rewrite(source="Ada left .", simple=FACTS["Lund"][:1], splitter="x")
    rest = Rewrite(source="Bo sat .", simple=["Bo sat ."], splitter="x")
    memory = TrainingMemory(slip.simple)
    list(memory.watch(TRAIN))
    found = Memorisation("x", "train", None, examine([slip, *[rest] * 30], memory))
    assert found.level is VerdictLevel.SOMETIMES
    assert found.headline() == "x reproduces its training set occasionally, but not as a rule."


def test_examine_counts_new_words_of_probes_only() -> None:
    rewrite = Rewrite(
        source="Oslo Oslo Oslo", simple=["Oslo is a museum .", "Oslo ."], splitter="x"
    )
    memory = TrainingMemory([])
    assert examine([rewrite], memory).unsupported == 0
    assert examine([rewrite], memory, every_word=True).said[0].new == ("museum",)
    assert examine([rewrite], memory, every_word=True).unsupported == 1


def test_memory_does_not_count_spaces_but_capitals() -> None:
    memory = TrainingMemory(["Ann left.", "ann left."])
    list(memory.watch([Example("Ann left , and Bo sat .", (("Ann left .", "Bo sat ."),), "1")]))
    assert memory.where("Ann  left .") == "1"
    assert memory.where("ann left.") is None
    assert memory.where("Bo sat .") is None  # nobody asked for it


def test_verdict_page_has_no_markup_from_outside() -> None:
    rewrite = Rewrite(source="A <b> B", simple=["A <script>B</script> Zed 1777"], splitter="x")
    memory = TrainingMemory(rewrite.simple)
    list(memory.watch([Example("s", (rewrite.simple,), "1")]))
    found = Memorisation("<i>x</i>", "train", None, examine([rewrite], memory))
    page = found.document().render(ReportFormat.HTML)
    assert "<script>B" not in page
    assert "<i>x" not in page
    assert "&lt;script&gt;B" in page
    assert "default-src 'none'" in page


def test_verdict_record_has_every_probe() -> None:
    record = diagnose(parrot, FRESH).record()
    assert record["verdict"] == "recites"
    probes = record["probes"]
    assert isinstance(probes, dict)
    assert [each["entity"] for each in probes["entities"]] == list(FACTS)
    assert probes["with_training_sentence"] == 3
