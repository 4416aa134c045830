import pytest

from parataxis.errors import ParataxisError
from parataxis.evaluate.corpora.example import Triple
from parataxis.lab.lstm.triples import Partitions, in_tree_order, linearised

BORN = Triple("Ada_Vell", "birthPlace", "Morrow")
BUILT = Triple("Vell_Tower", "architect", "Ada_Vell")
HIGH = Triple("Vell_Tower", "height", "90")


def test_triples_stand_in_the_order_of_their_tree() -> None:
    assert in_tree_order([BORN, HIGH, BUILT]) == (BUILT, BORN, HIGH)
    assert in_tree_order([]) == ()


def test_triples_of_a_circle_are_all_there() -> None:
    circle = [Triple("a", "r", "b"), Triple("b", "s", "a")]
    assert sorted(in_tree_order(circle)) == sorted(circle)


def test_triples_are_read_as_words() -> None:
    assert linearised([BORN, BUILT]) == "Vell Tower architect Ada Vell Ada Vell birthPlace Morrow"


def test_triples_are_cut_as_in_training() -> None:
    partitions = Partitions()
    for _ in range(2):
        partitions.add([[BUILT], [BORN, HIGH]])
    partitions.add([[BUILT, BORN, HIGH]])
    other = [
        Triple("Oak_Hall", "architect", "Ben_Orr"),
        Triple("Ben_Orr", "birthPlace", "Rome"),
        Triple("Oak_Hall", "height", "12"),
    ]
    assert partitions.cut(other) == [(other[0],), (other[1], other[2])]
    # Other relations: the most frequent sizes, in the order of the tree.
    unseen = [Triple("x", relation, relation) for relation in ("a", "b", "c")]
    assert [len(part) for part in partitions.cut(unseen)] == [1, 2]
    # A number of triples that was never seen: one sentence for each.
    assert [len(part) for part in partitions.cut(unseen[:2])] == [1, 1]


def test_triples_how_they_are_cut_is_written_and_read(tmp_path) -> None:
    partitions = Partitions()
    partitions.add([[BUILT], [BORN, HIGH]])
    partitions.write(tmp_path / "partitions.json")
    again = Partitions.load(tmp_path / "partitions.json")
    assert again.cut([BUILT, BORN, HIGH]) == [(BUILT,), (BORN, HIGH)]
    (tmp_path / "partitions.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ParataxisError, match="train the model again"):
        Partitions.load(tmp_path / "partitions.json")
