"""What must be found in a sentence, and what a rewrite may say as well."""

from parataxis.evaluate.corpora.treebanks import GoldSentence
from parataxis.lab.downstream.score import PRONOUN, GoldPair, WordPair, frames, gold_pairs, licensed

SHARED = """
Ann PROPN 2 nsubj 2:nsubj|4:nsubj
came VERB 0 root 0:root
and CCONJ 4 cc 4:cc
sang VERB 2 conj 2:conj:and
songs NOUN 4 obj 4:obj
and CCONJ 7 cc 7:cc
hymns NOUN 5 conj 4:obj|5:conj:and
"""

RELATIVE = """
Ann PROPN 0 root 0:root|5:nsubj
Lee PROPN 1 flat 1:flat
, PUNCT 5 punct 5:punct
who PRON 5 nsubj 1:ref
wanted VERB 1 acl:relcl 1:acl:relcl
to PART 7 mark 7:mark
leave VERB 5 xcomp 5:xcomp
"""


def said(sentence: GoldSentence, pair: GoldPair) -> tuple[str, str, str, bool]:
    words = [word.text for word in sentence.analysis]
    arguments = " ".join(words[place] for place in sorted(pair.arguments))
    return words[pair.predicate], pair.role, arguments, pair.shared


def test_gold_has_the_arguments_that_the_tree_leaves_out(gold) -> None:
    sentence = gold("Ann came and sang songs and hymns", SHARED)
    assert [said(sentence, pair) for pair in gold_pairs(sentence)] == [
        ("came", "nsubj", "Ann", False),
        ("sang", "obj", "songs", False),
        ("sang", "nsubj", "Ann", True),
    ]
    # Further parts of a list are allowed, not asked for.
    assert WordPair(3, "obj", 6) in licensed(sentence)


def test_gold_takes_the_relative_word_or_any_part_of_the_name(gold) -> None:
    sentence = gold("Ann Lee, who wanted to leave", RELATIVE)
    subject, complement = gold_pairs(sentence)
    assert said(sentence, subject) == ("wanted", "nsubj", "Ann Lee who", False)
    assert said(sentence, complement) == ("wanted", "xcomp", "leave", False)
    who, lee = WordPair(4, "nsubj", 3), WordPair(4, "nsubj", 1)
    assert subject.matches(who)
    assert subject.matches(lee)
    assert subject.matches(lee, named=True)
    assert not subject.matches(who, named=True)
    pronoun = WordPair(4, "nsubj", PRONOUN)
    assert subject.matches(pronoun)
    assert not subject.matches(pronoun, named=True)
    assert not subject.matches(WordPair(4, "obj", 0))
    assert subject.matches(WordPair(4, "obj", 0), labelled=False)


def test_gold_cannot_tell_equal_words_apart(gold) -> None:
    lines = "I PRON 2 nsubj\nsang VERB 0 root\nand CCONJ 5 cc\ni PRON 5 nsubj\nleft VERB 2 conj"
    sentence = gold("I sang and i left", lines)
    assert gold_pairs(sentence)[1].matches(WordPair(4, "nsubj", 0))


def test_gold_does_not_take_a_relative_word_for_a_name_elsewhere(gold) -> None:
    lines = """
    Ann PROPN 0 root 0:root|3:nsubj
    who PRON 3 nsubj 1:ref
    sang VERB 1 acl:relcl 1:acl:relcl
    who PRON 5 nsubj 1:ref
    left VERB 1 acl:relcl 1:acl:relcl
    """
    pair = gold_pairs(gold("Ann who sang who left", lines))[0]
    assert pair.matches(WordPair(2, "nsubj", 3))
    assert not pair.matches(WordPair(2, "nsubj", 3), named=True)


def test_gold_licenses_what_a_rewrite_turns_into_a_sentence(gold) -> None:
    lines = """
    The DET 2 det
    mill NOUN 10 nsubj
    built VERB 2 acl
    by ADP 5 case
    Ann PROPN 3 obl
    , PUNCT 8 punct
    a DET 8 det
    monk NOUN 5 appos
    , PUNCT 8 punct
    burned VERB 0 root
    leaving VERB 10 advcl
    ruins NOUN 11 obj
    """
    sentence = gold("The mill built by Ann, a monk, burned leaving ruins", lines)
    words = [word.text for word in sentence.analysis]
    found = {(words[p], role, words[a]) for p, role, a in licensed(sentence)}
    assert found == {
        ("built", "nsubj", "mill"),
        ("monk", "nsubj", "Ann"),
        ("Ann", "nsubj", "monk"),
        ("leaving", "nsubj", "mill"),
    }
    assert ("built", "obl", "Ann", False) in [said(sentence, pair) for pair in gold_pairs(sentence)]


def test_gold_frames_are_those_of_verbs_with_two_arguments(gold) -> None:
    arguments = [(0, 1, "ARG0"), (3, 3, "R-ARG0"), (6, 6, "ARG1"), (5, 5, "ARGM-MOD")]
    found = [(4, arguments), (6, [(0, 1, "ARG0")])]
    (frame,) = frames(gold("Ann Lee, who wanted to leave", RELATIVE, found))
    assert frame.predicate == 4
    assert frame.arguments == (frozenset({0, 1, 3}), frozenset({6}))
    assert frame.relative == {3}
