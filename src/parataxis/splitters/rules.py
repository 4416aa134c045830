"""The rule-based splitter of Zhang et al. (2020), §3.1 and appendix A: a baseline.

Three processes run once each, in this order: wh (:mod:`.wh`), conjunction (:mod:`.conjunction`)
and insertion (:mod:`.insertion`). Where the paper is silent we decided as follows; docs/rules.md
has the reasons and an example for each, which the tests run, and says which three decisions go
further than the paper's words.

Decisions
---------
All processes
    The source is analysed once. Sentences made so far are searched from left to right, and the
    first place that fits is taken if both sides have a verb and no word but "and" and relative
    words is lost, nor a quotation mark. An argument is a numbered
    argument (ARG0 to ARG5) of a verb. Copied verbs keep their form.
Wh
    The split is a cut at the R-ARG. A relative clause between a noun and its verb leaves no verb
    before the cut, so the third process extracts it. The Subject Argument replaces the relative
    word ("whose" with "'s"); the other words of the R-ARG ("to which", "most of whom") stay.
Conjunction
    "Followed by an argument" means that an argument begins there. The subject is the last argument
    before the verb in its own frame, for an auxiliary in that of its main verb; failing that, the
    last argument before the verb that it is joined to.
Insertion
    Participle modifiers are ``acl`` and ``advcl`` with VBG or VBN; relative clause modifiers
    ``acl:relcl`` whose subject is the relative pronoun; prepositional ones ``nmod`` with a
    preposition; adjective ones ``amod`` after the noun, or ``acl`` and ``advcl`` with an adjective;
    appositional ones ``appos``. None has a subject, auxiliary or conjunction of its own, each has
    two words or more, and those without a verb are set off by marks, which go with them.
    The subject is that of the predicate which the clause modifies, else the noun it modifies. A
    clause without a finite verb gets a form of "to be" that agrees with the subject, in the tense
    of the nearest finite verb. The clause comes first only if the source begins with it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from itertools import tee

from parataxis.errors import TooLongError
from parataxis.rewrite.compose import Copy, Insert, Part, compose, copies
from parataxis.rewrite.forms import be
from parataxis.rewrite.record import OutputToken, Rewrite
from parataxis.splitters.source import left_whole
from parataxis.syntax.analyser import Analyser, load_analyser
from parataxis.syntax.analysis import ROOT, Analysis, Argument, Frame, Word
from parataxis.text.english import BE, RELATIVES

# What the first two processes read from the semantic roles.

_NUMBERED = re.compile(r"ARG\d")
_BRACKETS = frozenset(["()", "[]"])
_MARKS = frozenset([",", ";", ":", ".", "-", "--", "–", "—"])
_RELATIONAL = re.compile(r"R-ARG\d")


def verb_frames(analysis: Analysis) -> Iterator[Frame]:
    """The frames of verbs; the paper's role labeller knows no others."""
    return (f for f in analysis.frames if analysis[f.predicate].upos in ("VERB", "AUX"))


def is_argument(argument: Argument) -> bool:
    """Whether it is a numbered argument (ARG0 to ARG5), not a modifier (ARGM)."""
    return _NUMBERED.fullmatch(argument.label) is not None


def is_relational(argument: Argument) -> bool:
    """Whether it is a numbered R-ARG: "who", "which", "that", not "where" or "when"."""
    return _RELATIONAL.fullmatch(argument.label) is not None


def argument_before(frame: Frame, index: int) -> Argument | None:
    """The last numbered argument of a frame that ends before a word: the paper's Subject
    Argument."""
    before = [a for a in frame.arguments if is_argument(a) and a.last < index]
    return max(before, key=lambda a: a.last, default=None)


def trimmed(analysis: Analysis, first: int, last: int) -> range:
    """The words of a span without commas and the like at its ends, or brackets around it."""
    while first < last:
        if analysis[first].text + analysis[last].text in _BRACKETS:
            first, last = first + 1, last - 1
        elif analysis[first].text in _MARKS:
            first += 1
        elif analysis[last].text in _MARKS:
            last -= 1
        else:
            break
    return range(first, last + 1)


# Wh handling, the first process (Zhang et al. 2020, appendix A).


def split_wh(
    analysis: Analysis, sentence: Sequence[Part]
) -> Iterator[tuple[list[Part], list[Part]]]:
    """Split before each R-ARG that has a Subject Argument, which takes its place."""
    for relative, words, subject in _relational_arguments(analysis):
        if Copy(words.start) not in sentence:
            continue
        cut = sentence.index(Copy(words.start))
        before, after = range(words.start, relative), range(relative + 1, words.stop)
        phrase = copies(trimmed(analysis, subject.first, subject.last))
        if analysis[relative].text.lower() == "whose":
            phrase.append(Insert("'s"))
        second = [*copies(before), *phrase, *copies(after), *sentence[cut + len(words) :]]
        yield list(sentence[:cut]), second


def _relational_arguments(analysis: Analysis) -> list[tuple[int, range, Argument]]:
    """From left to right: the relative word, all words of the R-ARG, and the Subject Argument."""
    found = []
    for frame in verb_frames(analysis):
        for relational in filter(is_relational, frame.arguments):
            words = range(relational.first, relational.last + 1)
            relative = next((w for w in words if analysis[w].text.lower() in RELATIVES), None)
            if relative is None:
                continue
            subject = argument_before(frame, words.start)
            if subject is not None:
                found.append((relative, words, subject))
    return sorted(found, key=lambda entry: entry[1].start)


# Conjunction handling, the second process (Zhang et al. 2020, appendix A).


def split_conjunction(
    analysis: Analysis, sentence: Sequence[Part]
) -> Iterator[tuple[list[Part], list[Part]]]:
    """Split at each "and" that an argument follows, or a verb with a Subject Argument."""
    for place, part in enumerate(sentence[:-1]):
        following = sentence[place + 1]
        if not isinstance(part, Copy) or not isinstance(following, Copy):
            continue
        if analysis[part.word].text.lower() != "and":
            continue
        first, rest = list(sentence[:place]), list(sentence[place + 1 :])
        if _starts_argument(analysis, following.word):
            yield first, rest
        elif (subject := _subject(analysis, following.word)) is not None:
            yield first, [*copies(trimmed(analysis, subject.first, subject.last)), *rest]


def _starts_argument(analysis: Analysis, index: int) -> bool:
    return any(
        argument.first == index and is_argument(argument)
        for frame in verb_frames(analysis)
        for argument in frame.arguments
    )


def _subject(analysis: Analysis, index: int) -> Argument | None:
    """The Subject Argument of the verb at ``index``, or of the verb whose auxiliary it is, or of
    the verb that it is joined to."""
    word = analysis[index]
    if word.upos not in ("VERB", "AUX"):
        return None
    main = analysis[word.head] if word.relation in ("aux", "cop") else word
    verbs = [index, main.index]
    if main.relation == "conj":
        verbs += [main.head, *(v.index for v in analysis.children(main.head, "cop"))]
    frames = {frame.predicate: frame for frame in verb_frames(analysis)}
    subjects = (argument_before(frames[v], min(v, index)) for v in verbs if v in frames)
    return next(filter(None, subjects), None)


# Insertion handling, the third process (Zhang et al. 2020, appendix A).

_TYPES = frozenset(["acl", "advcl", "nmod", "amod", "appos"])
_SHORTEST = 2
_BRACKETS_INSERTION = {"(": ")", "[": "]"}
_SEPARATORS = frozenset([",", "–", "—", "--", "-"])
_STOPS = frozenset([".", "!", "?", ";", ":"])
_MARKS_INSERTION = _SEPARATORS | {*_BRACKETS_INSERTION, *_BRACKETS_INSERTION.values()}
_NOMINAL = frozenset(["NOUN", "PROPN", "PRON", "NUM", "DET", "SYM", "X"])
_CLAUSES_OF_A_NOUN = ("acl", "appos", "parataxis")
_BEFORE_THE_PHRASE = ("case", "fixed", "cc", "mark")


def split_insertion(
    analysis: Analysis, sentence: Sequence[Part]
) -> Iterator[tuple[list[Part], list[Part]]]:
    """Extract each modifier that is a clause, and put its subject before it."""
    for node, words in _modifiers(analysis):
        start = _place(sentence, words)
        subject = _subject_insertion(analysis, node.head)
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
        if node.relation not in _TYPES or not analysis.is_projective(node.index):
            continue
        words = trimmed(analysis, *analysis.span(node.index))
        if len(words) >= _SHORTEST and _is_modifier(analysis, node, words):
            found.append((node, words))
    return sorted(found, key=lambda pair: (pair[1].start, -len(pair[1])))


def _is_modifier(analysis: Analysis, node: Word, words: range) -> bool:
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
    """Whether the node is a participle modifier or a relative clause modifier."""
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
    first = analysis[trimmed(analysis, *analysis.span(clause.index))[0]]
    is_subject = first.head == clause.index and first.relation == "nsubj"
    return is_subject and first.text.lower() in RELATIVES


def _place(sentence: Sequence[Part], words: range) -> int | None:
    """Where all the words stand side by side in the sentence."""
    wanted = copies(words)
    if wanted[0] not in sentence:
        return None
    start = sentence.index(wanted[0])
    return start if list(sentence[start : start + len(wanted)]) == wanted else None


def _is_set_off(analysis: Analysis, left: Sequence[Part], right: Sequence[Part]) -> bool:
    """Whether commas, dashes or brackets stand on both sides, or on one and the sentence's end
    on the other."""
    before, after = _mark(analysis, left[-1:]), _mark(analysis, right[:1])
    if before in _BRACKETS_INSERTION or after in _BRACKETS_INSERTION.values():
        return before in _BRACKETS_INSERTION and _BRACKETS_INSERTION[before] == after
    if before is None:
        return not left and after is not None
    return after is not None or not right or _is_stop(analysis, right[0])


def _mark(analysis: Analysis, parts: Sequence[Part]) -> str | None:
    """The mark that the only part is, if it is one that can set off a clause."""
    if not parts or not isinstance(parts[0], Copy):
        return None
    word = analysis[parts[0].word]
    is_hyphen = word.text == "-" and word.index and analysis[word.index - 1].end == word.start
    return word.text if word.text in _MARKS_INSERTION and not is_hyphen else None


def _is_stop(analysis: Analysis, part: Part) -> bool:
    return isinstance(part, Copy) and analysis[part.word].text in _STOPS


def _subject_insertion(analysis: Analysis, head: int) -> Word | None:
    """The subject of the clause that ``head`` is the predicate of, else the noun that it is,
    else the subject of the clause above it."""
    while head != ROOT:
        word = analysis[head]
        subjects = analysis.children(head, "nsubj")
        if word.deprel == "acl:relcl" and _begins_with_its_subject(analysis, word):
            return analysis[word.head]
        if subjects:
            return subjects[0]
        if word.upos in _NOMINAL:
            return word
        head = word.head
    return None


def _phrase(analysis: Analysis, noun: Word) -> list[Part]:
    """The noun with what belongs to it, without its preposition and its own clauses."""
    clauses = {
        index
        for child in analysis.children(noun.index, *_CLAUSES_OF_A_NOUN)
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
        words[0].relation in _BEFORE_THE_PHRASE or words[0].text in _SEPARATORS
    ):
        words.pop(0)
    while words[-1] != noun and (
        words[-1].relation == "case" or words[-1].text in _SEPARATORS | _STOPS
    ):
        words.pop()  # the "'s" of a possessor, the dash before a clause, the stop of the source
    return copies(word.index for word in words)


def _follows_mark(analysis: Analysis, node: Word) -> bool:
    first, _ = analysis.span(node.index)
    return any(
        analysis[index].text in _MARKS_INSERTION for index in (first - 1, first) if index >= 0
    )


def _predicate(analysis: Analysis, node: Word, words: range, subject: Word) -> list[Part]:
    """The clause as it follows its subject: after "to be", or without its relative pronoun."""
    if node.deprel == "acl:relcl":
        return copies(words[1:])
    return [Insert(be(analysis, subject.index, node.head)), *copies(words)]


# The rule-based splitter: runs the three processes on an analysis and composes the result.

_Process = Callable[[Analysis, Sequence[Part]], Iterator[tuple[list[Part], list[Part]]]]

_NAME = "rules"
_DROPPED = RELATIVES | {"and", ",", ";", ":", ".", "-", "--", "–", "—"}
_BRACKETS_SPLITTER = frozenset("()[]")
_PROCESSES: tuple[_Process, ...] = (split_wh, split_conjunction, split_insertion)


class RulesSplitter:
    """The rule-based splitter of Zhang et al. (2020), appendix A: at most three splits.

    >>> RulesSplitter()("Ann wrote a book, and Ben read it.").simple
    ('Ann wrote a book.', 'Ben read it.')
    """

    name = _NAME
    summary = "The rule-based baseline of Zhang et al. (2020): relative clauses, and, insertions."

    def __init__(self, analyser: Analyser | None = None) -> None:
        self._analyser = analyser

    def __call__(self, sentence: str) -> Rewrite:
        """Rewrite one sentence."""
        return next(self.pipe([sentence]))

    def pipe(self, sentences: Iterable[str]) -> Iterator[Rewrite]:
        """Rewrite many sentences, in order; several are analysed at once."""
        analyser = self._analyser or load_analyser()
        originals, to_analyse = tee(sentences)
        for sentence, analysis in zip(originals, analyser.pipe(to_analyse), strict=True):
            if isinstance(analysis, TooLongError):
                yield left_whole(sentence, splitter=self.name, note=str(analysis))
            else:
                yield split_by_rules(analysis)


def split_by_rules(analysis: Analysis) -> Rewrite:
    """Run each process once, in the paper's order, on an analysed sentence."""
    sentences: list[list[Part]] = [copies(range(len(analysis)))]
    for process in _PROCESSES:
        sentences = _once(process, analysis, sentences)
    if len(sentences) == 1:
        return left_whole(analysis.text, splitter=_NAME, note="None of the rules applies.")
    composed = [compose(analysis, sentence) for sentence in sentences]
    return Rewrite(
        source=analysis.text,
        simple=tuple(text for text, _ in composed),
        splitter=_NAME,
        provenance=tuple(tokens for _, tokens in composed),
    )


def _once(process: _Process, analysis: Analysis, sentences: list[list[Part]]) -> list[list[Part]]:
    """Let a process make the first of its splits that gives two sentences and loses nothing."""
    verbs = {(word.start, word.end) for word in analysis if word.upos in ("VERB", "AUX")}
    dropped = _DROPPED | _BRACKETS_SPLITTER if process is split_insertion else _DROPPED
    for place, sentence in enumerate(sentences):
        for halves in process(analysis, sentence):
            tokens = [compose(analysis, half)[1] for half in halves]
            if all(_has_verb_splitter(half, verbs) for half in tokens) and all(
                word.text.lower() in dropped for word in _lost(analysis, sentence, tokens)
            ):
                return [*sentences[:place], *halves, *sentences[place + 1 :]]
    return sentences


def _has_verb_splitter(tokens: Sequence[OutputToken], verbs: Set[tuple[int, int]]) -> bool:
    return any(
        token.text in BE if token.source is None else token.source in verbs for token in tokens
    )


def _lost(
    analysis: Analysis, sentence: Sequence[Part], halves: Sequence[Sequence[OutputToken]]
) -> Iterator[Word]:
    """The words of a sentence that stand in neither half."""
    kept = {token.source for half in halves for token in half}
    words = (analysis[part.word] for part in sentence if not isinstance(part, Insert))
    return (word for word in words if (word.start, word.end) not in kept)
