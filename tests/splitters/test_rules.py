"""The rule-based splitter: the paper's examples, every documented decision, and what must
always hold."""

import re
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parataxis.errors import TooLongError
from parataxis.splitters.registry import SentenceSplitter
from parataxis.splitters.rules import RulesSplitter, split_by_rules
from parataxis.syntax.analysis import ROOT, Analysis, Argument, Frame, Word
from parataxis.text.tokens import tokenize

# The example sentences of Zhang et al. (2020): §1, §2, §4.1.3 and appendix B.
PAPER = [
    (
        "Voiced by Aoi Koga, Kaguya is the series’ titular character, "
        "popular among a wide audience.",
        "Kaguya is voiced by Aoi Koga.",
        "Kaguya is the series’ titular character, popular among a wide audience.",
    ),
    (
        "Scott Adsit voiced Baymax which was created by Duncan Rouleau.",
        "Scott Adsit voiced Baymax.",
        "Baymax was created by Duncan Rouleau.",
    ),
    (
        "Above the Veil is from Australia and was preceded by Aenir and Castle.",
        "Above the Veil is from Australia.",
        "Above the Veil was preceded by Aenir and Castle.",
    ),
    (
        "Serving the city of Alderney, the 1st runway is made from Poaceae.",
        "The 1st runway is serving the city of Alderney.",
        "The 1st runway is made from Poaceae.",
    ),
    (
        "The mausoleum was built in 1894 along the lines specified by Frazer.",
        "The mausoleum was built in 1894 along the lines.",
        "The lines were specified by Frazer.",
    ),
    (
        "Except as may be otherwise specified, Supplier shall invoice Buyer.",
        "Except as may be otherwise specified, Supplier shall invoice Buyer.",
    ),
    (
        "Leila married the movie director Ruy Guerra, father of her only daughter.",
        "Leila married the movie director Ruy Guerra.",
        "The movie director Ruy Guerra was father of her only daughter.",
    ),
    (
        "Nimfa was forced to take part of a devilish plan to fool the Saavedra family.",
        "Nimfa was forced to take part of a devilish plan to fool the Saavedra family.",
    ),
    (
        "Jonathan Thirkield, currently living in New York City, is an American poet "
        "who is known to be prolific.",
        "Jonathan Thirkield is an American poet.",
        "Jonathan Thirkield is currently living in New York City.",
        "An American poet is known to be prolific.",
    ),
]
DOCS = Path(__file__).parents[2] / "docs" / "rules.md"


def documented():
    """The examples of docs/rules.md: a source, then its simple sentences after arrows."""
    blocks = re.findall(r"```text\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    return [tuple(re.split(r"\n→ ", block.strip())) for block in blocks]


@pytest.fixture(scope="module")
def rules():
    return RulesSplitter()


def test_rules_follows_the_protocol(rules):
    assert isinstance(rules, SentenceSplitter)


@pytest.mark.parametrize(("source", "simple"), [(first, rest) for first, *rest in PAPER])
def test_rules_handles_the_examples_of_the_paper(rules, source, simple):
    assert rules(source).simple == tuple(simple)


@pytest.mark.parametrize(("source", "simple"), [(first, rest) for first, *rest in documented()])
def test_rules_does_what_its_documentation_says(rules, source, simple):
    assert rules(source).simple == tuple(simple)


def test_rules_documentation_has_an_example_for_every_decision():
    sections = re.split(r"\n### ", DOCS.read_text(encoding="utf-8"))[1:]
    without = [section.splitlines()[0] for section in sections if "```text" not in section]
    assert len(sections) >= 12
    assert without == []


def test_rules_provenance_covers_every_token(rules):
    rewrite = rules("Built in 1905, the mill was closed in 1990.")
    origins = [
        [(t.text, t.origin.value, t.source and rewrite.source[slice(*t.source)]) for t in tokens]
        for tokens in rewrite.provenance
    ]
    assert rewrite.simple[0] == "The mill was built in 1905."
    assert origins[0] == [
        ("The", "copied", "the"),
        ("mill", "copied", "mill"),
        ("was", "inserted", None),
        ("built", "copied", "Built"),
        ("in", "copied", "in"),
        ("1905", "copied", "1905"),
        (".", "inserted", None),
    ]


def test_rules_leaves_a_simple_sentence_as_it_is_and_says_so(rules):
    rewrite = rules("  It rained .")
    assert rewrite.simple == ("  It rained .",)
    assert rewrite.note == "None of the rules applies."


def test_rules_pipe_gives_what_single_calls_give(rules):
    sources = [first for first, *_ in PAPER]
    assert list(rules.pipe(iter(sources))) == [rules(source) for source in sources]


class Refusing:
    """An analyser that finds every second sentence too long."""

    def pipe(self, sentences):
        for place, sentence in enumerate(sentences):
            yield TooLongError("It is too long.") if place % 2 else Analysis(sentence, ())


def test_rules_leaves_a_sentence_whole_that_is_too_long():
    rewrites = list(RulesSplitter(Refusing()).pipe(["One.", "Two.", "Three."]))
    assert [rewrite.simple for rewrite in rewrites] == [("One.",), ("Two.",), ("Three.",)]
    assert rewrites[1].note == "It is too long."


def test_rules_leaves_an_endless_sentence_whole(rules):
    endless = "and so on " * 1000
    rewrite = rules(endless)
    assert rewrite.simple == (endless,)
    assert "word pieces" in rewrite.note


VOCABULARY = ["The", "and", "who", "which", "whose", "mill", "built", "is", "of", "Ann", "he"]
MARKS = [",", ".", "(", ")", '"', "–", "-", "?", ";"]
TAGS = ["NOUN/NN", "NOUN/NNS", "PROPN/NNP", "VERB/VBD", "VERB/VBN", "AUX/VBZ", "ADJ/JJ", "ADP/IN"]
RELATIONS = ["nsubj", "acl", "acl:relcl", "appos", "amod", "nmod", "advcl", "case", "punct", "conj"]
LABELS = ["ARG0", "ARG1", "R-ARG0", "ARGM-TMP"]


@st.composite
def any_analysis(draw):
    """A sentence with an arbitrary tree and arbitrary roles: worse than any analyser's."""
    text = " ".join(draw(st.lists(st.sampled_from(VOCABULARY + MARKS), min_size=8, max_size=16)))
    tokens = tokenize(text)
    chance = Random(draw(st.integers(0, 2**32)))
    heads = [ROOT] * len(tokens)
    grow(heads, 0, len(tokens), ROOT, chance)
    words = []
    for index, token in enumerate(tokens):
        upos, xpos = chance.choice(TAGS).split("/")
        if token.text.startswith("wh"):
            upos, xpos = "PRON", "WP$" if token.text == "whose" else "WDT"
        if token.text in MARKS:
            upos, xpos = "PUNCT", token.text
        relation = "root" if heads[index] == ROOT else chance.choice(RELATIONS)
        place = (token.start, token.end)
        words.append(Word(index, token.text, *place, upos, xpos, {}, heads[index], relation))
    frames = [any_frame(words, chance) for word in words if word.text in ("and", "who", "which")]
    return Analysis(text, words, frames)


def grow(heads, start, end, head, chance):
    """Give the words from ``start`` to ``end`` one root below ``head``, and so on below it."""
    if start < end:
        root = chance.randrange(start, end)
        heads[root] = head
        grow(heads, start, root, root, chance)
        grow(heads, root + 1, end, root, chance)


def any_frame(words, chance):
    arguments, start = [], 0
    while start < len(words) and chance.random() < 0.9:
        end = chance.randrange(start, min(start + 3, len(words)))
        is_relative = words[start].xpos.startswith("W")
        label = "R-ARG1" if is_relative else chance.choice(LABELS)
        arguments.append(Argument(start, end, label))
        start = end + 1
    verbs = [word.index for word in words if word.upos in ("VERB", "AUX")]
    return Frame(chance.choice(verbs or [0]), tuple(arguments))


@settings(max_examples=300, deadline=None)
@given(any_analysis())
def test_rules_loses_no_word_whatever_the_analysis(analysis):
    rewrite = split_by_rules(analysis)
    assert 1 <= len(rewrite.simple) <= 4
    used = {token.source for tokens in rewrite.provenance for token in tokens}
    lost = [w.text for w in analysis if (w.start, w.end) not in used and w.upos != "PUNCT"]
    assert set(lost) <= {"and", "who", "which", "whose"}


@settings(max_examples=60, deadline=None)
@given(st.one_of(st.text(min_size=1), st.lists(st.sampled_from(VOCABULARY + MARKS)).map(" ".join)))
def test_rules_answers_any_visible_text(rules_text):
    if not rules_text.strip():
        return
    rewrite = RulesSplitter()(rules_text)
    assert all(sentence.strip() for sentence in rewrite.simple)
    if not rewrite.is_split:
        assert rewrite.simple == (rules_text,)
