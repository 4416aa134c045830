"""What of an evaluation set a system may have seen in training."""

from parataxis.evaluate.corpora.example import Example, Triple
from parataxis.evaluate.corpora.leaks import Overlap, Overlaps, find_overlaps


def example(source: str, *simple: str, id_: str = "1", triples: tuple[Triple, ...] = ()) -> Example:
    return Example(source, (simple,), id_, triples=frozenset(triples))


TRAIN = [
    example("It rained, so we left.", "It rained.", "So we left.", id_="train:1"),
    example(
        "The old mill on the hill was built in 1894 , and Ann Lee bought it .",
        "The old mill on the hill was built in 1894 .",
        "Ann Lee bought it .",
        id_="train:2",
    ),
]


def check(*test: Example, train: list[Example] = TRAIN, near: float = 0.8) -> Overlaps:
    return find_overlaps(train, {"test": test}, near=near)["test"]


def test_leaks_count_each_time_and_each_different_one() -> None:
    again = example("We sang.", "It rained.", "It rained.", "We sang.")
    simple = check(again, example("Bo sang.", "Bo sang."))[Overlap.SIMPLE]
    assert (simple.found, simple.total) == (2, 4)
    assert (simple.unique_found, simple.unique_total) == (1, 3)
    assert [sight.id for sight in simple.sights] == ["train:1"]


def test_leaks_near_duplicates_survive_tokenisation() -> None:
    found = check(
        example(
            "The old mill on the hill was built in 1894, and Ann Lee bought it.", "Something new."
        )
    )
    assert found[Overlap.SOURCES].found == 0
    near = found[Overlap.NEAR_SOURCES]
    assert (near.found, near.sights[0].id, near.sights[0].jaccard) == (1, "train:2", 1.0)
    assert found.is_leak()


def test_leaks_verbatim_is_not_counted_again_as_near() -> None:
    late = [example("It rained , so we left .", "Rain ."), *TRAIN]
    found = check(example("It rained, so we left.", "New."), train=late)
    assert (found[Overlap.SOURCES].found, found[Overlap.NEAR_SOURCES].found) == (1, 0)


def test_leaks_without_near_duplicates() -> None:
    found = check(example("It rained , so we left .", "New."), near=1.0)
    assert Overlap.NEAR_SOURCES not in [leak.kind for leak in found.leaks]
    assert not found.is_leak()
    assert found.inside == 0


def test_leaks_set_that_sits_inside() -> None:
    inside = check(
        example("It rained, so we left.", "Rain fell."),
        example("The old mill on the hill was built in 1894, and Ann Lee bought it.", "X."),
    )
    assert inside.inside == 1
    assert inside.is_leak(allowed=1.0)  # as many as you like, but not most of them
    assert check(example("Nothing of that.", "Nothing.")).inside == 0


def test_leaks_vocabulary_and_names_are_no_leak() -> None:
    found = check(example("Today Ann Lee left Oslo.", "Today Ann Lee left Oslo."))
    assert (found[Overlap.NAMES].unique_found, found[Overlap.NAMES].unique_total) == (1, 2)
    vocabulary = found[Overlap.VOCABULARY]
    assert (vocabulary.unique_found, vocabulary.unique_total) == (3, 5)  # not: today, oslo
    assert not found.is_leak()


def test_leaks_triples_leak_but_relations_do_not() -> None:
    oslo, ghent = Triple("Oslo", "in", "Norway"), Triple("Ghent", "in", "Belgium")
    train = [example("A.", "A.", triples=(oslo,))]
    new = check(example("B.", "B.", triples=(ghent,)), train=train)
    assert new[Overlap.RELATIONS].unique_found == 1
    assert new[Overlap.ENTITIES].unique_found == 0
    assert not new.is_leak()
    assert check(example("C.", "C.", triples=(oslo, ghent)), train=train).is_leak()


def test_leaks_entities_are_subjects_and_objects() -> None:
    train = [example("A.", "A.", triples=(Triple("Oslo", "in", "Norway"),))]
    fjord = example("B.", "B.", triples=(Triple("Norway", "has", "Fjords"),))
    entities = check(fjord, train=train)[Overlap.ENTITIES]
    assert (entities.unique_found, entities.unique_total) == (1, 2)


def test_leaks_some_can_be_allowed() -> None:
    texts = [example(f"Number {n} sang to us.", f"Number {n} sang to us.") for n in range(9)]
    found = check(*texts, example("We came.", "It rained."))
    assert found.is_leak()
    assert not found.is_leak(allowed=0.1)


def test_leaks_training_set_is_read_once_for_all_parts() -> None:
    stream = iter(TRAIN * 400)
    found = find_overlaps(
        stream, {"dev": [example("X.", "It rained.")], "test": [example("Y.", "So we left.")]}
    )
    assert [each[Overlap.SIMPLE].found for each in found.values()] == [1, 1]
    assert next(stream, None) is None


def test_leaks_text_was_seen_as_a_source_or_as_a_simple_sentence() -> None:
    found = check(example("It rained.", "It rained, so we left."))
    assert (found[Overlap.SOURCES].found, found[Overlap.SIMPLE].found) == (1, 1)
    sentences = [Example("Bo sang all day.", (), "list:1")]
    assert check(example("X.", "Bo sang all day."), train=sentences).is_leak()
