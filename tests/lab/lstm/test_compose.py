import numpy as np
import pytest

from parataxis.lab.lstm.search import SPLIT, LstmHypothesis, Vocabulary, words_of
from parataxis.lab.lstm.splitter import Written, compose, written
from parataxis.rewrite.record import Origin
from parataxis.text.tokens import tokenize


def sentence_of(source: str, words: str) -> str:
    """Words, of which @3 is a copy of the fourth of the source."""
    tokens = tokenize(source)
    parts = [
        Written(tokens[int(word[1:])].text, int(word[1:]))
        if word.startswith("@")
        else Written(word, None)
        for word in words.split()
    ]
    return compose(parts, source, tokens)[0]


@pytest.mark.parametrize(
    ("source", "words", "expected"),
    [
        # Tokenised text comes back tokenised.
        ("Ann , who left , sang .", "@0 @3 .", "Ann left ."),
        ("It ( the ship ) sank .", "The ship ( a boat ) sank .", "The ship ( a boat ) sank ."),
        # Running text keeps what stands between neighbours, and else the usual rules hold.
        ("Ann, who left, sang.", "@0 @3 .", "Ann left."),
        ("The well-known film won.", "@1 @2 @3 @4 @5 @6", "well-known film won."),
        ("He left.", "He did n't like it , she said .", "He didn't like it, she said."),
        ("He left.", "Ann 's film ( 1996 ) cost $ 5 .", "Ann's film (1996) cost $5."),
        ("He left.", 'He read " Evita " and left .', 'He read "Evita" and left.'),
        ("He left.", "A well - known man .", "A well-known man."),
    ],
)
def test_compose_puts_spaces_as_the_source_does(source: str, words: str, expected: str) -> None:
    assert sentence_of(source, words) == expected


def test_compose_says_where_words_come_from() -> None:
    source = "Ann left."
    tokens = tokenize(source)
    text, origins = compose([Written("Ann", 0), Written("was", None)], source, tokens)
    assert text == "Ann was"
    assert [(o.text, o.start, o.end, o.origin, o.source) for o in origins] == [
        ("Ann", 0, 3, Origin.COPIED, (0, 3)),
        ("was", 4, 7, Origin.INSERTED, None),
    ]


def test_compose_takes_the_place_that_was_attended_to() -> None:
    source = words_of("the dog saw the cat")
    vocabulary = Vocabulary(["the", "ran", "."])
    attention = np.zeros((5, 5), dtype=np.float32)
    attention[0, 3] = attention[1, 4] = 1.0
    the, cat = vocabulary.numbers["the"], vocabulary.read(source)[4]
    ran, stop = vocabulary.numbers["ran"], vocabulary.numbers["."]
    hypothesis = LstmHypothesis((the, cat, ran, SPLIT, stop), 0.0, attention)
    assert written(hypothesis, source, vocabulary) == [
        [Written("the", 3), Written("cat", 4), Written("ran", None)],
        [Written(".", None)],
    ]
    no_words = LstmHypothesis((SPLIT, SPLIT), 0.0, np.zeros((2, 5), dtype=np.float32))
    assert written(no_words, source, vocabulary) == []
