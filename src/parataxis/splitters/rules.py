"""The rule-based splitter of Zhang et al. (2020), §3.1 and appendix A: a baseline.

Three processes run once each, in the paper's order: wh, conjunction, insertion. Each proposes
splits from left to right, and the first one is taken whose halves both have a verb and that loses
no word but "and" and relative words. docs/rules.md gives every decision where the paper is silent,
with an example that the tests run.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from itertools import tee

from parataxis.errors import TooLongError
from parataxis.rewrite.compose import Copy, Insert, Part, compose, copies, left_whole
from parataxis.rewrite.forms import be
from parataxis.rewrite.record import OutputToken, Rewrite
from parataxis.syntax.analyser import Analyser, load_analyser
from parataxis.syntax.analysis import ROOT, Analysis, Argument, Frame, Word
from parataxis.syntax.onnx import weights_named
from parataxis.text.english import BE, RELATIVES

_Halves = tuple[list[Part], list[Part]]
_Process = Callable[[Analysis, Sequence[Part]], Iterator[_Halves]]

_BRACKETS = {"(": ")", "[": "]"}
_SEPARATORS = frozenset([",", "–", "—", "--", "-"])
_STOPS = frozenset([".", "!", "?", ";", ":"])
_TRIMMED = _SEPARATORS | {".", ";", ":"}
_SET_OFF = _SEPARATORS.union(_BRACKETS, _BRACKETS.values())
"""Marks that can set a modifier off from its sentence."""


class RulesSplitter:
    """Makes at most three splits, one by each process.

    >>> RulesSplitter()("Ann wrote a book, and Ben read it.").simple
    ('Ann wrote a book.', 'Ben read it.')
    """

    name = "rules"
    summary = "The rule-based baseline of Zhang et al. (2020): relative clauses, and, insertions."

    def __init__(self, analyser: Analyser | None = None) -> None:
        self._analyser = analyser

    def __call__(self, sentence: str) -> Rewrite:
        return next(self.pipe([sentence]))

    def pipe(self, sentences: Iterable[str]) -> Iterator[Rewrite]:
        """Rewrite many sentences, in order; the analyser reads them in batches."""
        analyser = self._analyser or load_analyser()
        weights = None if self._analyser else weights_named("analyser")
        originals, to_analyse = tee(sentences)
        for sentence, analysis in zip(originals, analyser.pipe(to_analyse), strict=True):
            if isinstance(analysis, TooLongError):
                made = left_whole(sentence, splitter=self.name, note=str(analysis))
            else:
                made = split_by_rules(analysis)
            yield made.model_copy(update={"weights": weights})


def split_by_rules(analysis: Analysis) -> Rewrite:
    """Run the three processes on an analysed sentence."""
    sentences: list[list[Part]] = [copies(range(len(analysis)))]
    for process in (_split_wh, _split_conjunction, _split_insertion):
        sentences = _split_once(process, analysis, sentences)
    if len(sentences) == 1:
        return left_whole(
            analysis.text, splitter=RulesSplitter.name, note="None of the rules applies."
        )
    composed = [compose(analysis, sentence) for sentence in sentences]
    return Rewrite(
        source=analysis.text,
        simple=tuple(text for text, _ in composed),
        splitter=RulesSplitter.name,
        provenance=tuple(tokens for _, tokens in composed),
    )


def _split_once(
    process: _Process, analysis: Analysis, sentences: list[list[Part]]
) -> list[list[Part]]:
    """Make the first split of a process whose halves have verbs and that loses nothing."""
    verbs = {(word.start, word.end) for word in analysis if word.upos in ("VERB", "AUX")}
    droppable = RELATIVES | _TRIMMED | {"and"}
    if process is _split_insertion:
        droppable |= _SET_OFF
    for place, sentence in enumerate(sentences):
        for halves in process(analysis, sentence):
            tokens = [compose(analysis, half)[1] for half in halves]
            if all(_contains_verb(half, verbs) for half in tokens) and all(
                word.text.lower() in droppable for word in _lost(analysis, sentence, tokens)
            ):
                return [*sentences[:place], *halves, *sentences[place + 1 :]]
    return sentences


def _contains_verb(tokens: Sequence[OutputToken], verbs: Set[tuple[int, int]]) -> bool:
    return any(
        token.text in BE if token.source is None else token.source in verbs for token in tokens
    )


def _lost(
    analysis: Analysis, sentence: Sequence[Part], halves: Sequence[Sequence[OutputToken]]
) -> Iterator[Word]:
    """The words of a sentence that are in neither half."""
    kept = {token.source for half in halves for token in half}
    words = (analysis[part.word] for part in sentence if not isinstance(part, Insert))
    return (word for word in words if (word.start, word.end) not in kept)


def _trimmed(analysis: Analysis, first: int, last: int) -> range:
    """The words of a span without marks at its ends and brackets around it."""
    while first < last:
        if _BRACKETS.get(analysis[first].text) == analysis[last].text:
            first, last = first + 1, last - 1
        elif analysis[first].text in _TRIMMED:
            first += 1
        elif analysis[last].text in _TRIMMED:
            last -= 1
        else:
            break
    return range(first, last + 1)


# The first two processes: wh and conjunction, which read the semantic roles ------------------


def _verb_frames(analysis: Analysis) -> Iterator[Frame]:
    """The frames of verbs; the paper's role labeller knows no others."""
    return (f for f in analysis.frames if analysis[f.predicate].upos in ("VERB", "AUX"))


def _is_argument(argument: Argument) -> bool:
    """Whether it is a numbered argument (ARG0 to ARG5), not a modifier (ARGM)."""
    return re.fullmatch(r"ARG\d", argument.label) is not None


def _argument_before(frame: Frame, index: int) -> Argument | None:
    """The paper's Subject Argument: the last numbered argument that ends before a word."""
    before = [a for a in frame.arguments if _is_argument(a) and a.last < index]
    return max(before, key=lambda a: a.last, default=None)


def _split_wh(analysis: Analysis, sentence: Sequence[Part]) -> Iterator[_Halves]:
    """Split before each R-ARG that has a Subject Argument, and put that in place of the relative
    word ("'s" replaces "whose"); other words of the R-ARG stay ("most of whom")."""
    for relative, words, subject in _relational_arguments(analysis):
        if Copy(words.start) not in sentence:
            continue
        cut = sentence.index(Copy(words.start))
        before, after = range(words.start, relative), range(relative + 1, words.stop)
        phrase = copies(_trimmed(analysis, subject.first, subject.last))
        if analysis[relative].text.lower() == "whose":
            phrase.append(Insert("'s"))
        second = [*copies(before), *phrase, *copies(after), *sentence[cut + len(words) :]]
        yield list(sentence[:cut]), second


def _relational_arguments(analysis: Analysis) -> list[tuple[int, range, Argument]]:
    """From left to right: the relative word, all words of the R-ARG, and the Subject Argument."""
    found = []
    for frame in _verb_frames(analysis):
        for argument in frame.arguments:
            if not re.fullmatch(r"R-ARG\d", argument.label):
                continue
            words = range(argument.first, argument.last + 1)
            relative = next((w for w in words if analysis[w].text.lower() in RELATIVES), None)
            subject = _argument_before(frame, words.start)
            if relative is not None and subject is not None:
                found.append((relative, words, subject))
    return sorted(found, key=lambda entry: entry[1].start)


def _split_conjunction(analysis: Analysis, sentence: Sequence[Part]) -> Iterator[_Halves]:
    """Split at each "and" before an argument, or before a verb that has a Subject Argument."""
    for place, part in enumerate(sentence[:-1]):
        following = sentence[place + 1]
        if not isinstance(part, Copy) or not isinstance(following, Copy):
            continue
        if analysis[part.word].text.lower() != "and":
            continue
        first, rest = list(sentence[:place]), list(sentence[place + 1 :])
        arguments = (each for frame in _verb_frames(analysis) for each in frame.arguments)
        if any(each.first == following.word and _is_argument(each) for each in arguments):
            yield first, rest
        elif (subject := _subject_argument(analysis, following.word)) is not None:
            yield first, [*copies(_trimmed(analysis, subject.first, subject.last)), *rest]


def _subject_argument(analysis: Analysis, index: int) -> Argument | None:
    """The Subject Argument of the verb at ``index``, or of the verb whose auxiliary it is, or of
    the verb that it is joined to."""
    word = analysis[index]
    if word.upos not in ("VERB", "AUX"):
        return None
    main = analysis[word.head] if word.relation in ("aux", "cop") else word
    verbs = [index, main.index]
    if main.relation == "conj":
        verbs += [main.head, *(v.index for v in analysis.children(main.head, "cop"))]
    frames = {frame.predicate: frame for frame in _verb_frames(analysis)}
    subjects = (_argument_before(frames[v], min(v, index)) for v in verbs if v in frames)
    return next(filter(None, subjects), None)


# The third process: insertion, which reads the dependency tree -------------------------------


def _split_insertion(analysis: Analysis, sentence: Sequence[Part]) -> Iterator[_Halves]:
    """Extract each modifier that is a clause, and put its subject before it. The clause comes
    first only if the source begins with it."""
    for node, words in _modifiers(analysis):
        start = _place(sentence, words)
        subject = _subject(analysis, node.head)
        if start is None or subject is None:
            continue
        end = start + len(words)
        if _is_set_off(analysis, sentence[:start], sentence[end:]):
            start -= _mark(analysis, sentence[start - 1 : start]) is not None
            end += _mark(analysis, sentence[end : end + 1]) is not None
        elif not _has_verb(analysis, node):
            continue
        rest = [*sentence[:start], *sentence[end:]]
        phrase = [part for part in _phrase(analysis, subject) if part not in sentence[start:end]]
        own = [*phrase, *_predicate(analysis, node, words, subject)]
        yield (rest, own) if start else (own, rest)


def _modifiers(analysis: Analysis) -> list[tuple[Word, range]]:
    """The modifiers of the five types with their words, from left to right, the longest first."""
    found = []
    for node in analysis:
        inside = analysis.subtree(node.index)
        if len(inside) <= inside[-1] - inside[0]:  # with a gap
            continue
        words = _trimmed(analysis, inside[0], inside[-1])
        if len(words) > 1 and _is_modifier(analysis, node, words):
            found.append((node, words))
    return sorted(found, key=lambda pair: (pair[1].start, -len(pair[1])))


def _is_modifier(analysis: Analysis, node: Word, words: range) -> bool:
    """Whether a phrase is a modifier by a participle, a relative clause, a preposition, an
    adjective or an apposition."""
    if _has_verb(analysis, node):
        return True
    if not _is_bare(analysis, node):
        return False
    if node.deprel in ("amod", "appos"):
        return node.head < words[0]
    if node.deprel == "nmod":
        return node.head < words[0] and analysis[words[0]].relation == "case"
    return node.deprel in ("acl", "advcl") and node.upos == "ADJ"


def _has_verb(analysis: Analysis, node: Word) -> bool:
    """Whether a modifier is a participle or a relative clause."""
    if node.deprel == "acl:relcl":
        return _begins_with_its_subject(analysis, node)
    is_participle = node.deprel in ("acl", "advcl") and node.xpos in ("VBG", "VBN")
    return is_participle and _is_bare(analysis, node)


def _is_bare(analysis: Analysis, node: Word) -> bool:
    """Whether a clause has no subject, auxiliary or conjunction of its own."""
    if analysis.children(node.index, "nsubj", "csubj", "expl", "aux", "cop", "mark"):
        return False
    return all(child.xpos != "WRB" for child in analysis.children(node.index, "advmod"))


def _begins_with_its_subject(analysis: Analysis, clause: Word) -> bool:
    """Whether a relative clause begins with a relative pronoun that is its subject."""
    first = analysis[_trimmed(analysis, *analysis.span(clause.index))[0]]
    is_subject = first.head == clause.index and first.relation == "nsubj"
    return is_subject and first.text.lower() in RELATIVES


def _place(sentence: Sequence[Part], words: range) -> int | None:
    """Where the words stand in the sentence, if they are all there side by side."""
    wanted = copies(words)
    if wanted[0] not in sentence:
        return None
    start = sentence.index(wanted[0])
    return start if list(sentence[start : start + len(wanted)]) == wanted else None


def _is_set_off(analysis: Analysis, left: Sequence[Part], right: Sequence[Part]) -> bool:
    """Whether commas, dashes or brackets stand on both sides, or on one side where the other is
    the end of the sentence."""
    before, after = _mark(analysis, left[-1:]), _mark(analysis, right[:1])
    if before in _BRACKETS or after in _BRACKETS.values():
        return before in _BRACKETS and _BRACKETS[before] == after
    if before is None:
        return not left and after is not None
    ends = not right or (isinstance(right[0], Copy) and analysis[right[0].word].text in _STOPS)
    return after is not None or ends


def _mark(analysis: Analysis, parts: Sequence[Part]) -> str | None:
    """The first part, if it is a mark that can set off a clause and no hyphen."""
    if not parts or not isinstance(parts[0], Copy):
        return None
    word = analysis[parts[0].word]
    is_hyphen = word.text == "-" and word.index and analysis[word.index - 1].end == word.start
    return word.text if word.text in _SET_OFF and not is_hyphen else None


def _subject(analysis: Analysis, head: int) -> Word | None:
    """The subject of the clause that ``head`` is the predicate of, else the noun that it is,
    else the subject of the clause above it."""
    while head != ROOT:
        word = analysis[head]
        subjects = analysis.children(head, "nsubj")
        if word.deprel == "acl:relcl" and _begins_with_its_subject(analysis, word):
            return analysis[word.head]
        if subjects:
            return subjects[0]
        if word.upos in ("NOUN", "PROPN", "PRON", "NUM", "DET", "SYM", "X"):
            return word
        head = word.head
    return None


def _phrase(analysis: Analysis, noun: Word) -> list[Part]:
    """The noun with what belongs to it, without its preposition and its own clauses."""
    clauses = {
        index
        for child in analysis.children(noun.index, "acl", "appos", "parataxis")
        if child.relation != "appos" or _follows_mark(analysis, child)
        for index in analysis.subtree(child.index)
    }
    commas = {
        index
        for index in analysis.subtree(noun.index)
        if analysis[index].text == "," and {index - 1, index + 1} & clauses
    }
    dropped = (clauses | commas) - {noun.index}  # a wrong tree may take a comma for the subject
    words = [analysis[index] for index in analysis.subtree(noun.index) if index not in dropped]
    while words[0] != noun and (
        words[0].relation in ("case", "fixed", "cc", "mark") or words[0].text in _SEPARATORS
    ):
        words.pop(0)
    while words[-1] != noun and (
        words[-1].relation == "case" or words[-1].text in _SEPARATORS | _STOPS
    ):
        words.pop()  # the "'s" of a possessor, the dash before a clause, the stop of the source
    return copies(word.index for word in words)


def _follows_mark(analysis: Analysis, node: Word) -> bool:
    first, _ = analysis.span(node.index)
    return any(analysis[index].text in _SET_OFF for index in (first - 1, first) if index >= 0)


def _predicate(analysis: Analysis, node: Word, words: range, subject: Word) -> list[Part]:
    """The clause as it follows its subject: after "to be", or without its relative pronoun."""
    if node.deprel == "acl:relcl":
        return copies(words[1:])
    return [Insert(be(analysis, subject.index, node.head)), *copies(words)]
