"""From actions of the model to the parts of each simple sentence, as ``compose`` takes them."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from parataxis.rewrite.compose import (
    Copy,
    Inflect,
    Insert,
    Part,
    are_neighbours,
    keeps_capital,
    part_text,
)
from parataxis.rewrite.forms import common_start, form_of, key
from parataxis.splitters.pointer.actions import (
    CLOSED,
    CLOSED_WORDS,
    COPY,
    FORM_NAMES,
    FORMS,
    NEXT,
)
from parataxis.splitters.pointer.repairs import agree, article, with_own_capital
from parataxis.syntax.analysis import Analysis
from parataxis.text.casing import lower_first
from parataxis.text.tokens import has_word

_STOPS = frozenset(".!?…:")
_DASHES = frozenset(["-", "--", "–", "—"])


def sentence_parts(analysis: Analysis, actions: Sequence[int]) -> list[list[Part]] | None:
    """The parts of each simple sentence; None where the actions cannot be carried out.

    >>> from parataxis.syntax.analyser import load_analyser
    >>> analysis = load_analyser()("Ann, a poet, died.")
    >>> was = CLOSED + CLOSED_WORDS.index("was")
    >>> for sentence in sentence_parts(analysis, [COPY, COPY + 5, NEXT, COPY, was, COPY + 3]):
    ...     print(sentence)
    [Copy(word=0), Copy(word=5), Copy(word=6)]
    [Copy(word=0), Insert(text='was'), Copy(word=3)]
    """
    sentences: list[list[Part]] = []
    for is_end, group in groupby(actions, lambda action: action == NEXT):
        if is_end:
            continue
        parts = _parts(analysis, list(group))
        if parts is None:
            return None
        parts = _plain(analysis, _settled(analysis, parts))
        sentences.append(agree(analysis, _with_articles(analysis, parts)))
    return sentences


def _parts(analysis: Analysis, actions: Sequence[int]) -> list[Part] | None:
    parts: list[Part] = []
    for action in actions:
        if COPY <= action < COPY + len(analysis):
            parts.append(Copy(action - COPY))
        elif CLOSED <= action < COPY:
            text = CLOSED_WORDS[action - CLOSED]
            parts.append(Insert("I" if text == "i" else text))
        elif FORMS <= action < CLOSED and parts and isinstance(parts[-1], Copy):
            form = _form(analysis, parts[-1].word, FORM_NAMES[action - FORMS])
            if form is None:
                return None
            parts[-1] = Inflect(parts[-1].word, form)
        else:
            return None
    return parts


def _form(analysis: Analysis, index: int, tag: str) -> str | None:
    """A word in another form, with its own capitals: "MPs" as "MP", "Voiced" as "voices"."""
    word = analysis[index]
    text, is_first = word.text, index == analysis.opener
    form = form_of(key(text), tag) if text[:1].isalpha() else None
    if form is None:
        return None
    if analysis.text.isupper():
        return form.upper()
    common = common_start(key(text), form)
    if len(key(text)) == len(text):
        form = text[:common] + form[common:]
    if is_first:
        return lower_first(form, keep=keeps_capital(analysis, index))
    return form


def _plain(analysis: Analysis, parts: Sequence[Part]) -> list[Part]:
    """The parts without a word said twice in a row ("also also"), and with a comma in place of a
    dash that has come to stand behind an inserted word ("Afterwards - he")."""
    plain: list[Part] = []
    for part in parts:
        if plain and not are_neighbours(plain[-1], part):
            text = key(part_text(analysis, part))
            if text.isalpha() and text == key(part_text(analysis, plain[-1])):
                continue
            if text in _DASHES and isinstance(plain[-1], Insert):
                plain.append(Insert(","))
                continue
        plain.append(part)
    return plain


# Which of several equal words is meant --------------------------------------------------------


def _settled(analysis: Analysis, parts: Sequence[Part]) -> list[Part]:
    """The parts with each word taken from the place where its neighbour stands too.

    The model adds up all the ways to write a word, so it may point at any of several equal ones,
    or write one without a source that stands right there.
    """
    places = analysis.once(_places)  # the same for all simple sentences
    settled: list[Part] = []
    for position, part in enumerate(parts):
        before = _word(settled[-1]) if settled else None
        if before is not None and isinstance(part, Copy) and part.word == before + 1:
            settled.append(part)
            continue
        after = _word(parts[position + 1]) if position + 1 < len(parts) else None
        if not isinstance(part, Inflect):
            equal = places.get(key(part_text(analysis, part)), [])
            part = _nearest(part, equal, before, after)
        if isinstance(part, Copy):
            last = part_text(analysis, settled[-1]) if settled else ""
            part = with_own_capital(analysis, part, before, after, key(last))
        settled.append(part)
    return _with_own_end(analysis, settled)


def _places(analysis: Analysis) -> dict[str, list[int]]:
    """Where the words of each spelling stand."""
    places: dict[str, list[int]] = {}
    for word in analysis:
        places.setdefault(key(word.text), []).append(word.index)
    return places


def _nearest(part: Part, equal: Sequence[int], before: int | None, after: int | None) -> Part:
    beside = [place for place in _beside(before, after) if place in equal]
    if not beside or (isinstance(part, Copy) and part.word in beside):
        return part
    return Copy(beside[0])


def _with_own_end(analysis: Analysis, parts: list[Part]) -> list[Part]:
    """The parts, with the stop or colon of the source where they end right before it."""
    end = len(analysis) - 1
    if end > 0 and parts[-1:] == [Copy(end - 1)] and set(analysis[end].text) <= _STOPS:
        return [*parts, Copy(end)]
    return parts


def _beside(before: int | None, after: int | None) -> Iterator[int]:
    if before is not None:
        yield before + 1
    if after is not None:
        yield after - 1


def _word(part: Part) -> int | None:
    return None if isinstance(part, Insert) else part.word


# a and an -------------------------------------------------------------------------------------


def _with_articles(analysis: Analysis, parts: Sequence[Part]) -> list[Part]:
    """The parts with "a" or "an" as the next word asks for, where the source did not decide."""
    fitted = list(parts)
    for position, part in enumerate(parts[:-1]):
        if key(part_text(analysis, part)) not in ("a", "an") or not _is_article(analysis, part):
            continue
        rest = (part_text(analysis, other) for other in parts[position + 1 :])
        following = next((text for text in rest if has_word(text)), "")
        fit = article(following)
        if are_neighbours(part, parts[position + 1]) or fit in (
            None,
            key(part_text(analysis, part)),
        ):
            continue
        fitted[position] = Insert(fit) if isinstance(part, Insert) else Inflect(part.word, fit)
    return fitted


def _is_article(analysis: Analysis, part: Part) -> bool:
    return isinstance(part, Insert) or analysis[part.word].upos == "DET"
