"""From the actions of the model to the parts of each simple sentence, as ``compose`` takes them.

Small repairs follow the model. Those that change development rewrites say how many of the 2,102;
the others prevent faults that readers have noticed elsewhere.
"""

import re
from collections.abc import Sequence, Set
from itertools import groupby

from parataxis.checks.clauses import has_no_passive
from parataxis.checks.pronouns import is_person
from parataxis.checks.relations import UNCERTAIN_NUMBER
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
from parataxis.splitters.pointer.openers import with_openers, without_guess
from parataxis.syntax.analysis import Analysis, Word
from parataxis.text.english import ARTICLES, DEMONSTRATIVES, words
from parataxis.text.tokens import find_symbols, has_word, is_symbol, lower_first

_STOPS = frozenset(".!?…:")
_PAIRED_MARK = re.compile(r"""[()\[\]{}"“”]|['’‘`]{2}""")
_DASHES = frozenset(["-", "--", "–", "—"])

_AN = re.compile(r"[ai]|o(?!nes?\b|neself\b|nce\b|ui)|e(?!u|we)")
_A = re.compile(r"[bcdfgj-np-tvwz]")

_PLURAL_OF = {
    "is": "are",
    "was": "were",
    "has": "have",
    "does": "do",
    "applies": "apply",
    "happens": "happen",
    "occurs": "occur",
    "includes": "include",
}
_SINGULAR_OF = {plural: singular for singular, plural in _PLURAL_OF.items()}
_ADVERBS = frozenset(map(Insert, ("also", "then", "therefore", "now", "later")))
"""Inserted words that may stand between a subject and its verb."""
_SINGULAR_SUBJECTS = words("he she it this")
_PLURAL_SUBJECTS = words("they these those we you")
_DETERMINERS = words("the this that these those a an his her its their such each every")
# The repair is bolder than the check: it trusts the number of these nouns.
_NOUNS_OF_EITHER_NUMBER = UNCERTAIN_NUMBER - words(
    "series means species anyone everyone someone person jury firm bank cattle livestock remainder"
)

_CLASS_NOUNS = words(
    "abbey academy agency airport album association band baron baronet baths battle bishop bridge"
    " brigade building canal captain castle cathedral channel church club college colonel"
    " commission committee company corporation council count county court dam department diocese"
    " district duchy duke earl emperor empress expedition festival film foundation gallery general"
    " glacier government governor harbour hospital hotel institute island king kingdom lake league"
    " library ministry minister monastery mosque mountain museum novel orchestra palace parish"
    " park peninsula philharmonic prefecture president prince princess prize professor programme"
    " province queen rabbi railway regiment region republic reserve river road school senator"
    " series show society stadium station street studio sultan symphony synagogue team temple"
    " theater theatre tower town tournament treaty tribe university valley village volcano war"
)
"""Nouns that begin or end a name and denote the thing without its name."""


SentenceParts = dict[tuple[int, ...], tuple[Part, ...] | None]
"""The parts of simple sentences by their actions, for hypotheses that share sentences."""


def sentence_parts(
    analysis: Analysis, actions: Sequence[int], known: SentenceParts | None = None
) -> list[tuple[Part, ...]] | None:
    """The parts of each simple sentence; None if the actions cannot be carried out.

    >>> from parataxis.syntax.analyser import load_analyser
    >>> analysis = load_analyser()("Ann, a poet, died.")
    >>> was = CLOSED + CLOSED_WORDS.index("was")
    >>> for sentence in sentence_parts(analysis, [COPY, COPY + 5, NEXT, COPY, was, COPY + 3]):
    ...     print(sentence)
    (Copy(word=0), Copy(word=5), Copy(word=6))
    (Copy(word=0), Insert(text='was'), Copy(word=3))
    """
    known = {} if known is None else known
    sentences: list[tuple[Part, ...]] = []
    for is_end, group in groupby(actions, lambda action: action == NEXT):
        if is_end:
            continue
        own = tuple(group)
        if own not in known:
            known[own] = _sentence(analysis, own)
        parts = known[own]
        if parts is None:
            return None
        sentences.append(parts)
    opened = with_openers(analysis, sentences)
    named = [without_guess(analysis, each) for each in opened]
    whole = [_with_whole_names(analysis, each) for each in named]
    return _with_symbols(analysis, _with_shared_verbs(analysis, whole))


def _sentence(analysis: Analysis, actions: Sequence[int]) -> tuple[Part, ...] | None:
    parts = _parts(analysis, actions)
    if parts is None:
        return None
    parts = _with_semicolons(analysis, _with_own_end(analysis, _settled(analysis, parts)))
    parts = _without_repetition(analysis, parts)
    if any(_PAIRED_MARK.fullmatch(part_text(analysis, part)) for part in parts):
        from parataxis.splitters.pointer.pairs import pair_marks

        parts = pair_marks(analysis, parts)
    parts = _with_demonstratives(analysis, _with_articles(analysis, parts))
    parts = _with_do(analysis, _with_agreement(analysis, parts))
    parts = _without_passive(analysis, _with_past(analysis, parts))
    parts = _with_conjunction(analysis, _without_also(analysis, parts))
    return tuple(_with_whole_words(analysis, _with_modal(analysis, parts)))


def _with_shared_verbs(
    analysis: Analysis, sentences: list[tuple[Part, ...]]
) -> list[tuple[Part, ...]]:
    """Let a verb that was said of joined nouns agree with each of them, where each has a sentence
    of its own: "Growth was stopped" and "Division was stopped" for "Growth and division
    were stopped"."""
    said = [{word for part in each if (word := _word(part)) is not None} for each in sentences]

    def is_shared(verb: int) -> bool:
        subjects = _joined_subjects(analysis, verb)
        return len(subjects) > 1 and all(
            any(verb in own and own & subjects == {each} for own in said) for each in subjects
        )

    shared = set(filter(is_shared, set[int]().union(*said)))
    if not shared:
        return sentences
    return [tuple(_with_agreement(analysis, each, shared)) for each in sentences]


def _joined_subjects(analysis: Analysis, index: int) -> set[int]:
    """The subjects of a verb, or of the verb of an auxiliary, and those joined to them."""
    word = analysis[index]
    verb = word.head if word.relation in ("aux", "cop") else index
    first = [each.index for each in analysis.children(verb, "nsubj")] if verb >= 0 else []
    joined = [word.index for each in first for word in analysis.children(each, "conj")]
    return {*first, *joined}


def _with_whole_names(analysis: Analysis, sentence: tuple[Part, ...]) -> tuple[Part, ...]:
    """The sentence with the rest of each name that ends at a hyphen: "Park Jae" becomes "Park
    Jae-Sang", unless the source has "Jae" alone too."""
    ends = analysis.once(_half_names)
    whole: list[Part] = []
    for place, part in enumerate(sentence):
        whole.append(part)
        follows = sentence[place + 1] if place + 1 < len(sentence) else part
        if isinstance(part, Copy) and part.word in ends and not are_neighbours(part, follows):
            whole += [Copy(part.word + 1), Copy(part.word + 2)]
    return tuple(whole)


def _half_names(analysis: Analysis) -> frozenset[int]:
    """Names before the hyphen of a double name, if they stand nowhere else."""
    places = analysis.once(_places)
    return frozenset(
        first.index
        for first, hyphen, last in zip(
            analysis, analysis.words[1:], analysis.words[2:], strict=False
        )
        if first.xpos == last.xpos == "NNP" and len(places[key(first.text)]) == 1
        if hyphen.text == "-" and first.end == hyphen.start and hyphen.end == last.start
    )


def _with_symbols(
    analysis: Analysis, sentences: Sequence[tuple[Part, ...]]
) -> list[tuple[Part, ...]]:
    """The sentences with every symbol of the source, each behind the word that it followed. The
    model often drops them. Brackets of a call, "g()", follow their word wherever it is copied."""
    whole = list(sentences)
    for symbol in analysis.once(_symbols) if whole else ():
        present = {_word(part) for sentence in whole for part in sentence}
        is_call = len(symbol) > 1 and 0 < analysis[symbol[0]].start == analysis[symbol[0] - 1].end
        if present.issuperset(symbol) and not is_call:
            continue
        before = (index for index in range(symbol[0] - 1, -1, -1) if index in present)
        texts = ((index, analysis[index].text) for index in before)
        anchor = next((index for index, text in texts if has_word(text) or is_symbol(text)), None)
        copies = tuple(map(Copy, symbol))
        if anchor is None:
            whole[0] = copies + whole[0]
            continue
        for number, sentence in enumerate(whole):
            if anchor in map(_word, sentence):
                kept = [part for part in sentence if _word(part) not in symbol]
                place = [_word(part) for part in kept].index(anchor) + 1
                whole[number] = (*kept[:place], *copies, *kept[place:])
                if not is_call:
                    break
    return whole


def _symbols(analysis: Analysis) -> list[range]:
    return list(find_symbols(analysis.text, analysis.words))


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
    text = analysis[index].text
    form = form_of(key(text), tag) if text[:1].isalpha() else None
    if form is None:
        return None
    if analysis.text.isupper():
        return form.upper()
    common = common_start(key(text), form)
    if len(key(text)) == len(text):
        form = text[:common] + form[common:]
    if index == analysis.opener:
        return lower_first(form, keep=keeps_capital(analysis, index))
    return form


def _settled(analysis: Analysis, parts: Sequence[Part]) -> list[Part]:
    """Copy each word from the place beside its neighbour, if an equal word stands there.

    The model adds up all ways to write a word, so it may point at any of several equal words, or
    write a closed word that stands right there. Corrects the provenance of 31 rewrites.
    """
    places = analysis.once(_places)  # the same for all simple sentences
    settled: list[Part] = []
    for position, part in enumerate(parts):
        before = _word(settled[-1]) if settled else None
        if before is not None and part == Copy(before + 1):
            settled.append(part)
            continue
        after = _word(parts[position + 1]) if position + 1 < len(parts) else None
        if not isinstance(part, Inflect):
            part = _nearest(part, places.get(key(part_text(analysis, part)), []), before, after)
        if isinstance(part, Copy):
            last = key(part_text(analysis, settled[-1])) if settled else ""
            part = _with_own_capital(analysis, part, before, after, last)
        settled.append(part)
    return settled


def _places(analysis: Analysis) -> dict[str, list[int]]:
    """The indices of the words of each spelling."""
    places: dict[str, list[int]] = {}
    for word in analysis:
        places.setdefault(key(word.text), []).append(word.index)
    return places


def _word(part: Part) -> int | None:
    return None if isinstance(part, Insert) else part.word


def _nearest(part: Part, equal: Sequence[int], before: int | None, after: int | None) -> Part:
    neighbours = [
        *([] if before is None else [before + 1]),
        *([] if after is None else [after - 1]),
    ]
    beside = [place for place in neighbours if place in equal]
    if not beside or (isinstance(part, Copy) and part.word in beside):
        return part
    return Copy(beside[0])


def _with_own_capital(
    analysis: Analysis, part: Copy, before: int | None, after: int | None, last: str
) -> Copy | Inflect:
    """Lower the capital of a class noun that has left its name: "The Aurora Engine Company"
    becomes "the company". Brings 2 rewrites nearer to their references.

    ``before`` and ``after`` are the source words next to it in the simple sentence, ``last`` is
    the text before it.
    """
    word = analysis[part.word]
    if not word.text[:1].isupper() or analysis.text.isupper() or word.index == analysis.opener:
        return part
    in_name = before == word.index - 1 or (
        after == word.index + 1 and has_word(analysis[after].text)
    )
    follows_determiner = last in ARTICLES | DEMONSTRATIVES | {"such"}
    if in_name or not follows_determiner or not _is_class_noun(analysis, word):
        return part
    return Inflect(word.index, lower_first(word.text, keep=False))


def _is_class_noun(analysis: Analysis, word: Word) -> bool:
    """Whether a word says what kind of thing a name names, and is never a term of its own."""
    spelling = key(word.text)
    return spelling in _CLASS_NOUNS and all(
        _is_in_name(analysis, other) for other in analysis if key(other.text) == spelling
    )


def _is_in_name(analysis: Analysis, word: Word) -> bool:
    """Whether a word stands beside one with a capital, or a number: "District 57A"."""
    beside = [word.index - 1, word.index + 1]
    if word.index + 2 < len(analysis) and analysis[word.index + 1].text == "of":
        beside.append(word.index + 2)
    return any(
        0 <= place < len(analysis)
        and (analysis[place].text[:1].isupper() or analysis[place].text[:1].isdigit())
        and analysis[place].upos in ("PROPN", "ADJ", "NOUN", "NUM")
        for place in beside
    )


def _with_own_end(analysis: Analysis, parts: list[Part]) -> list[Part]:
    """Add the final mark of the source to a sentence that ends right before it. Brings 11 rewrites
    nearer to their references, 6 of them to identity."""
    end = len(analysis) - 1
    if end > 0 and parts[-1:] == [Copy(end - 1)] and set(analysis[end].text) <= _STOPS:
        return [*parts, Copy(end)]
    return parts


def _with_semicolons(analysis: Analysis, parts: Sequence[Part]) -> list[Part]:
    """Write the semicolon of the source where the model has put a comma in its place: "Twigs stir;
    hives are brushed" stays two clauses."""
    own = list(parts)
    for place in range(1, len(parts) - 1):
        before, after = _word(parts[place - 1]), _word(parts[place + 1])
        if before is None or after != before + 2 or part_text(analysis, parts[place]) != ",":
            continue
        if analysis[before + 1].text == ";":
            own[place] = Copy(before + 1)
    return own


def _without_repetition(analysis: Analysis, parts: Sequence[Part]) -> list[Part]:
    """Drop a word that is said twice in a row ("also also"), and replace a dash after an inserted
    word by a comma ("Afterwards - he"). Brings 5 and 2 rewrites nearer to their references."""
    plain: list[Part] = []
    for part in parts:
        if plain and not are_neighbours(plain[-1], part):
            text = key(part_text(analysis, part))
            if text.isalpha() and text == key(part_text(analysis, plain[-1])):
                continue
            if text in _DASHES and isinstance(plain[-1], Insert):
                part = Insert(",")
        plain.append(part)
    return plain


_IN_FULL = {"'re": "are", "'ve": "have", "'ll": "will", "'m": "am"}


def _with_whole_words(analysis: Analysis, parts: Sequence[Part]) -> list[Part]:
    """Write a contracted verb in full when it has left its pronoun: "Max, who's scared" becomes
    "Max is scared", since "Max's scared" reads as a possessive."""
    full = list(parts)
    for position, part in enumerate(parts):
        follows = position > 0 and not are_neighbours(parts[position - 1], part)
        if not (isinstance(part, Copy) and follows):
            continue
        word = analysis[part.word]
        text = key(word.text).replace("’", "'")
        if text == "'s" and word.upos in ("AUX", "VERB"):
            following = analysis.words[part.word + 1 : part.word + 2]
            is_perfect = any(each.text == "been" for each in following)
            full[position] = Inflect(part.word, "has" if is_perfect else "is")
        elif text in _IN_FULL:
            full[position] = Inflect(part.word, _IN_FULL[text])
    return full


def _with_modal(analysis: Analysis, parts: Sequence[Part]) -> list[Part]:
    """Give a participle that became a finite verb the modal of its clause: "The dam could burst,
    flooding three villages" becomes "This could flood three villages"."""
    present = {_word(part) for part in parts}
    inserted = {part.text for part in parts if isinstance(part, Insert)}
    finite: list[Part] = []
    for part in parts:
        verb = _inflected(analysis, part)
        auxiliaries = [] if verb is None else _modal_of(analysis, verb)
        if not inserted.isdisjoint(key(analysis[index].text) for index in auxiliaries):
            auxiliaries = []  # the model has written it itself
        if verb is not None and not auxiliaries and isinstance(part, Inflect):
            finite.append(_under_modal(analysis, part, finite))
            continue
        if verb is None or not auxiliaries or not present.isdisjoint(auxiliaries):
            finite.append(part)
            continue
        form = _form(analysis, verb.word, "VBN" if len(auxiliaries) > 1 else "VB")
        finite += [part] if form is None else [*map(Copy, auxiliaries), Inflect(verb.word, form)]
    return finite


def _under_modal(analysis: Analysis, part: Inflect, before: Sequence[Part]) -> Inflect:
    """A participle that is joined to one which has got a modal takes its form: "could layer A and
    allows B" becomes "could layer A and allow B"."""
    verb = analysis[part.word]
    first = next((each for each in before if _word(each) == verb.head), None)
    is_joined = verb.relation == "conj" and verb.xpos == "VBG"
    if not is_joined or not isinstance(first, Inflect):
        return part
    base = form_of(key(analysis[verb.head].text), "VB")
    copied = (analysis[each.word] for each in before if isinstance(each, Copy))
    modal = any(word.xpos == "MD" for word in copied)
    form = _form(analysis, part.word, "VB")
    return Inflect(part.word, form) if form and modal and first.form == base else part


def _inflected(analysis: Analysis, part: Part) -> Inflect | None:
    """A part as another form of a source word; the closed word "made" may stand for "making"."""
    if isinstance(part, Inflect):
        return part
    if part != Insert("made"):
        return None
    making = [word.index for word in analysis if key(word.text) == "making"]
    return Inflect(making[0], "made") if len(making) == 1 else None


def _modal_of(analysis: Analysis, part: Inflect) -> list[int]:
    """The modal, and "have" after it, of the clause that a trailing participle belongs to."""
    verb = analysis[part.word]
    head = verb.head
    while head >= 0 and analysis[head].upos not in ("VERB", "AUX", "ADJ"):
        head = analysis[head].head
    if verb.xpos != "VBG" or verb.relation not in ("advcl", "acl") or not 0 <= head < verb.index:
        return []
    if analysis[verb.index - 1].text != ",":
        return []
    if part.form not in (form_of(key(verb.text), "VBZ"), form_of(key(verb.text), "VBD")):
        return []
    clause = [word for word in analysis if word.head == head and word.index < head]
    if any(key(word.text) in ("not", "n't", "never") for word in clause):
        return []
    modal = [word.index for word in clause if word.xpos == "MD"][-1:]
    have = [
        word.index
        for word in clause
        if modal and word.index > modal[0] and key(word.text) == "have"
    ]
    return modal + have[:1]


_PAST_OF = {"is": "was", "are": "were"}
_TODAY = words("former ex current currently now today late modern present")


def _with_past(analysis: Analysis, parts: list[Part]) -> list[Part]:
    """The past tense in the apposition of a person without a name, if all finite verbs of the
    source are past: "The mayor, a dentist, refused" becomes "The mayor was a dentist".

    References have "was" in all 11 such cases; of names, places and things some have "is".
    """
    for place, part in enumerate(parts[:-1]):
        if not isinstance(part, Insert) or part.text not in _PAST_OF:
            continue
        first = _word(parts[place + 1])
        nouns = [noun for start, noun in analysis.once(_roles) if start == first]
        if not {_word(each) for each in parts[place + 1 :]}.isdisjoint(nouns):
            return [*parts[:place], Insert(_PAST_OF[part.text]), *parts[place + 1 :]]
    return parts


def _roles(analysis: Analysis) -> list[tuple[int, int]]:
    """The first word and the noun of each apposition that says what a nameless person was."""
    finite = [word for word in analysis if word.xpos in ("VBD", "VBZ", "VBP", "MD")]
    if not finite or any(word.xpos != "VBD" for word in finite):
        return []
    found = []
    for word in analysis:
        if word.relation != "appos" or word.upos != "NOUN" or not is_person(word):
            continue
        below = analysis.subtree(word.index)
        own = [place for place in below if analysis[place].upos != "PUNCT"]
        is_open = _TODAY.isdisjoint(key(analysis[place].text) for place in own)
        if is_open and analysis[word.head].upos == "NOUN":
            found.append((own[0], word.index))
    return found


def _without_passive(analysis: Analysis, parts: list[Part]) -> list[Part]:
    """Drop a "was" before an active verb that shared its subject with a passive: "It was signed in
    1959 and entered into force" becomes "It entered into force"."""
    active = analysis.once(_active_verbs)
    plain: list[Part] = []
    for place, part in enumerate(parts):
        after = parts[place + 1] if place + 1 < len(parts) else part
        is_be = key(part_text(analysis, part)) in ("is", "are", "was", "were")
        is_new = is_be and isinstance(after, Copy) and not are_neighbours(part, after)
        if not (is_new and isinstance(after, Copy) and after.word in active):
            plain.append(part)
    return plain


def _active_verbs(analysis: Analysis) -> frozenset[int]:
    """Joined verbs that have an object of their own, or that have no passive."""
    joined = [verb for verb in analysis if verb.relation == "conj" and verb.upos == "VERB"]
    return frozenset(
        verb.index
        for verb in joined
        if verb.xpos in ("VBD", "VBN") and not analysis.children(verb.index, "aux")
        if has_no_passive(analysis, verb)
        or (verb.xpos == "VBD" and analysis.children(verb.index, "obj"))
    )


def _without_also(analysis: Analysis, parts: list[Part]) -> list[Part]:
    """Drop an inserted "also" after a subject with "no": "No refund shall also be paid". Put one
    that follows an order before it: "Make also sure"."""
    texts = [key(part_text(analysis, part)) for part in parts]
    also = Insert("also")
    if also not in parts:
        return parts
    if "no" in texts[: min(parts.index(also), 6)]:
        return [part for part in parts if part != also]
    first = _word(parts[0])
    if parts.index(also) == 1 and first is not None and analysis[first].xpos == "VB":
        return [also, parts[0], *parts[2:]]
    return parts


def _with_conjunction(analysis: Analysis, parts: list[Part]) -> list[Part]:
    """Join the last two items of a list whose end is in another sentence: "stores in Scotland,
    Wales" becomes "stores in Scotland and Wales"."""
    places = {_word(part): place for place, part in enumerate(parts)}
    for word in analysis.once(_list_ends):
        listed = [w for w in analysis.children(word.head, "conj") if w.index in places]
        if word.index in places or not listed or word.head not in places:
            continue
        if analysis.children(listed[-1].index, "cc"):
            continue
        kinds = [_LIST_CLASS.get(w.upos, w.upos) for w in (listed[-1], analysis[word.head])]
        if kinds[0] != kinds[1]:
            continue  # the analyser takes "forward, elbows on knees, and looking" for a list
        inside = [p for p in analysis.subtree(listed[-1].index) if analysis[p].upos != "PUNCT"]
        comma = places.get(inside[0], 0) - 1
        rest = parts[places[listed[-1].index] + 1 :]
        is_last = {_word(part) for part in rest} <= {
            None,
            *analysis.subtree(listed[-1].index),
            len(analysis) - 1,
        }
        link = analysis.children(word.index, "cc")[0]
        is_denied = key(analysis[inside[0]].text) == "not"
        if comma > 0 and is_last and not is_denied and part_text(analysis, parts[comma]) == ",":
            return [*parts[:comma], Copy(link.index), *parts[comma + 1 :]]
    return parts


_LIST_CLASS = {"PROPN": "NOUN", "PRON": "NOUN", "NUM": "NOUN", "AUX": "VERB"}
"""Parts of speech that count as another one in a list."""


def _list_ends(analysis: Analysis) -> list[Word]:
    """The last items of lists of three or more, with "and" or "or" before them."""
    return [
        word
        for word in analysis
        if word.relation == "conj"
        and word.head >= 0
        and any(key(link.text) in ("and", "or") for link in analysis.children(word.index, "cc"))
        and len(analysis.children(word.head, "conj")) > 1
        and analysis.children(word.head, "conj")[-1].index == word.index
    ]


def _with_articles(analysis: Analysis, parts: Sequence[Part]) -> list[Part]:
    """Choose "a" or "an" by the next word, if the source did not. Corrects 1 rewrite."""
    fitted = list(parts)
    for position, part in enumerate(parts[:-1]):
        given = key(part_text(analysis, part))
        is_article = isinstance(part, Insert) or analysis[part.word].upos == "DET"
        if given not in ("a", "an") or not is_article or are_neighbours(part, parts[position + 1]):
            continue
        following = parts[position + 1]
        if isinstance(following, Copy) and analysis[following.word].xpos == "NNS":
            fitted[position] = Insert("")  # "a slices"
            continue
        rest = (part_text(analysis, other) for other in parts[position + 1 :])
        fit = article(next((text for text in rest if has_word(text)), ""))
        if fit not in (None, given):
            fitted[position] = Insert(fit) if isinstance(part, Insert) else Inflect(part.word, fit)
    return [part for part in fitted if part != Insert("")]


def article(word: str) -> str | None:
    """The article that a word takes; None if its letters do not settle that (hour, unit, MP, 11).

    >>> [article(word) for word in ("apple", "English", "Note", "European", "MP")]
    ['an', 'an', 'a', None, None]
    """
    if not word[1:].islower():
        return None
    return "an" if _AN.match(word.lower()) else "a" if _A.match(word.lower()) else None


_SINGULAR_DEMONSTRATIVES = {"these": "this", "those": "that"}


def _with_demonstratives(analysis: Analysis, parts: Sequence[Part]) -> list[Part]:
    """Make an inserted "these" singular before a singular noun: "These dead material are"."""
    fitted = list(parts)
    for place, part in enumerate(parts):
        if not isinstance(part, Insert) or part.text not in _SINGULAR_DEMONSTRATIVES:
            continue
        end = place + 1
        while end < len(parts) and _is_in_phrase(analysis, parts[end]):
            end += 1
        noun = parts[end - 1]
        is_joined = end < len(parts) and key(part_text(analysis, parts[end])) in ("and", "or", ",")
        if is_joined or not isinstance(noun, Copy) or not _shows_number(analysis[noun.word]):
            continue
        if analysis[noun.word].xpos == "NN":
            fitted[place] = Insert(_SINGULAR_DEMONSTRATIVES[part.text])
    return fitted


def _is_in_phrase(analysis: Analysis, part: Part) -> bool:
    """Whether a part is a noun or stands before one: "dead material"."""
    return not isinstance(part, Insert) and analysis[part.word].upos in ("ADJ", "NOUN", "NUM")


def _with_do(analysis: Analysis, parts: list[Part]) -> list[Part]:
    """A denied order with its "do": "Keep it and not sell it" becomes "Do not sell it"."""
    opener = None if analysis.opener is None else analysis[analysis.opener]
    is_order = opener is not None and opener.xpos == "VB" and opener.relation == "root"
    second = parts[1] if is_order and len(parts) > 1 else None
    if not isinstance(second, Copy) or key(part_text(analysis, parts[0])) != "not":
        return parts
    return [Insert("do"), *parts] if analysis[second.word].xpos in ("VB", "VBP") else parts


def _with_agreement(
    analysis: Analysis, parts: Sequence[Part], shared: Set[int] = frozenset()
) -> list[Part]:
    """Let the verb agree with the subject that opens the sentence: "However, it own", "The members
    was lost", "The server often crash".

    Only changes a verb that does not follow its subject in the source, or is ``shared`` by several
    sentences, and only if the number of the subject is certain. Corrects 3 rewrites after a pronoun
    and 1 after a noun; the nouns are kept because they prevent wrong verb forms.
    """
    agreed = list(parts)
    start = _after_link(analysis, agreed)
    place = _verb(analysis, agreed, start)
    if place is None:
        return agreed
    end = place
    while end > start + 1:
        before = agreed[end - 1]
        is_adverb = isinstance(before, Copy) and analysis[before.word].upos == "ADV"
        if not is_adverb and before not in _ADVERBS:
            break
        end -= 1
    subject = agreed[start:end]
    is_shared = _word(agreed[place]) in shared
    if not is_shared and all(
        are_neighbours(agreed[k], agreed[k + 1]) for k in range(end - 1, place)
    ):
        return agreed
    # After "these" an inflected word may be a noun: "These wins".
    is_demonstrative = key(part_text(analysis, subject[-1])) in DEMONSTRATIVES
    is_new_verb = is_shared or isinstance(agreed[place], Insert)
    plural = _is_plural(analysis, subject, is_new_verb=is_new_verb)
    if plural is not None and not (is_demonstrative and isinstance(agreed[place], Inflect)):
        agreed[place] = _agreeing(analysis, agreed[place], plural=plural)
    return agreed


def _after_link(analysis: Analysis, parts: Sequence[Part]) -> int:
    """Where the subject begins: at the start, or after "However," and "In that case,"."""
    for place, part in enumerate(parts):
        if not isinstance(part, Insert):
            comma = isinstance(part, Copy) and analysis[part.word].text == "," and place > 0
            return place + 1 if comma else 0
        if part.text == ",":
            return place + 1
    return 0


def _verb(analysis: Analysis, parts: Sequence[Part], start: int) -> int | None:
    """The place of the first verb after the start of the subject that could agree with it."""
    for place in range(start + 1, len(parts)):
        match parts[place]:
            case Insert(text) if text in _PLURAL_OF or text in _SINGULAR_OF:
                return place
            case Inflect(word, _) if analysis[word].upos == "VERB":
                return place
            case Copy(word):
                text = key(analysis[word].text)
                is_form = text in _PLURAL_OF or text in _SINGULAR_OF
                is_auxiliary = analysis[word].upos == "AUX" and is_form
                if is_auxiliary or analysis[word].xpos in ("VBZ", "VBP"):
                    return place
    return None


def _is_plural(analysis: Analysis, subject: Sequence[Part], *, is_new_verb: bool) -> bool | None:
    """Whether a subject is plural; None if that is not certain."""
    first = key(part_text(analysis, subject[0]))
    if len(subject) == 1 and first in _SINGULAR_SUBJECTS | _PLURAL_SUBJECTS:
        return first in _PLURAL_SUBJECTS
    phrase = subject[1:] if len(subject) > 1 and first in _DETERMINERS else subject
    places = [part.word for part in phrase if isinstance(part, Copy)]
    if len(places) < len(phrase) or places != list(range(places[0], places[-1] + 1)):
        return None
    head = _head(analysis, places)
    if head is None or head.xpos not in ("NN", "NNS") or not _shows_number(head):
        return None
    # A copied verb that does not fit may show that it was said of all that is joined to the noun.
    own = [place for place in places if place != head.index]
    below = own if is_new_verb else analysis.subtree(head.index)
    if any(analysis[word].relation == "conj" or analysis[word].upos == "CCONJ" for word in below):
        return None
    return head.xpos == "NNS"


def _head(analysis: Analysis, places: Sequence[int]) -> Word | None:
    """The word that governs all others of a noun phrase; None if there is no such word, or a verb
    or a mark inside, or a preposition at the start ("Each of our shawls")."""
    heads = [analysis[place] for place in places if analysis[place].head not in places]
    has_clause = any(analysis[place].upos in ("VERB", "PUNCT") for place in places)
    if len(heads) != 1 or has_clause or analysis[places[0]].upos == "ADP":
        return None
    return heads[0]


def _shows_number(noun: Word) -> bool:
    """Whether the form of a noun tells its number."""
    word = key(noun.text)
    forms = form_of(word, "NN"), form_of(word, "NNS")
    return word not in _NOUNS_OF_EITHER_NUMBER and forms[0] != forms[1] is not None


def _agreeing(analysis: Analysis, part: Part, *, plural: bool) -> Part:
    irregular = _PLURAL_OF if plural else _SINGULAR_OF
    wrong, tag = ("VBZ", "VB") if plural else ("VBP", "VBZ")
    match part:
        case Insert(text):
            return Insert(irregular.get(text, text))
        case Inflect(word, form):
            forms = {other: form_of(key(form), other) for other in ("VB", "VBZ", "VBD")}
            right = forms[tag]
            if right and form == forms["VBZ" if plural else "VB"] and form != forms["VBD"]:
                return Inflect(word, right)
        case Copy(word):
            text = key(analysis[word].text)
            if analysis[word].upos == "AUX" and text in irregular:
                return Inflect(word, irregular[text])
            right = form_of(text, tag)
            if right and analysis[word].upos == "VERB" and analysis[word].xpos == wrong:
                return Inflect(word, right)
    return part
