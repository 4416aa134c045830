"""Words that have changed places or were exchanged: *before* for *after*, the giver for the taker,
the first event for the second, the date of one event for that of another.

Every word of such a rewrite is in the source, so these checks compare what stands together. They
report only what two sentences say in the same way; a rewrite that phrases a thing otherwise is
not judged here.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import chain, combinations, islice, pairwise
from types import MappingProxyType

from parataxis.checks import lexicon
from parataxis.checks.findings import Origins, Pair, finding_at, that_noun, verb_phrase
from parataxis.checks.relations import Referents, is_noun
from parataxis.rewrite.forms import key, lemmas
from parataxis.rewrite.record import Finding, FindingKind, OutputToken
from parataxis.syntax.analysis import Analysis, Word
from parataxis.text.english import words
from parataxis.text.tokens import has_word

_KIND = FindingKind.RELATION
_ORDER = words("before after until till since when while once")
_LOGIC = words("if unless because although though whereas whether")
_JOINING = words("and or but nor")
_AMOUNTS = words("all some any each every most many few both either neither half several none")
_PLACES = words("with without above below over under before after for from against until in to")
_EXCHANGES = (_ORDER | _LOGIC, _JOINING, _AMOUNTS, _PLACES)
"""Groups of words that mean different things in the same place."""
_SAME_MEANING = (
    words("each every any all"),
    words("until till"),
    words("in to"),
    words("from in"),
    words("although though while"),
    words("since because as"),
    words("when once while as"),
)
_LATER = words("then afterwards later subsequently next thereafter")
_THAT = words("that this then")
_TIES = words(
    "before after when while until once since by having prior following upon as if earlier"
)


def exchange_findings(
    source: Analysis, simple: Sequence[Analysis | None], origins: Sequence[Origins]
) -> list[Finding]:
    """What was exchanged in a rewrite; sentences without an analysis are read less closely."""
    sentences = [each.spoken() for each in origins]
    swapped = list(_swapped_parts(source, simple, origins))
    known = {found.sentence for found in swapped}
    return [
        *_other_words(source, sentences),
        *swapped,
        *(each for each in _turned_voices(source, simple, origins) if each.sentence not in known),
        *_turned_pronouns(source, simple, origins),
        *_other_times(source, sentences),
        *_reversed_events(source, sentences),
        *_reversed_clauses(source, sentences),
        *_turned_clauses(source, simple, origins),
        *_moved_dates(source, sentences),
    ]


def swap_findings(source: Analysis, origins: Sequence[Origins]) -> list[Finding]:
    """The first pair of words that have changed places, if there is one."""
    sentences = [each.spoken() for each in origins]
    swaps = chain(_swapped_words(source, sentences), _swapped_neighbours(source, sentences))
    return list(islice(swaps, 1))


def _other_words(source: Analysis, sentences: Sequence[Sequence[Pair]]) -> Iterator[Finding]:
    """Words of a group in the place of another one, between the same two words."""
    between: dict[tuple[str, str], set[str]] = defaultdict(set)
    keys = [key(word.text) for word in source if has_word(word.text)]
    for left, middle, right in zip(["", *keys], keys, [*keys[1:], ""], strict=False):
        between[left, right].add(middle)
    written = Counter(key(token.text) for pairs in sentences for token, _ in pairs)
    lost = {word for word, count in Counter(keys).items() if written[word] < count}
    for index, pairs in enumerate(sentences):
        said = [key(token.text) for token, _ in pairs]
        for place, word in enumerate(said):
            left = said[place - 1] if place else ""
            right = said[place + 1] if place + 1 < len(said) else ""
            known = between.get((left, right))
            if known and right and known <= lost and all(_differ(word, other) for other in known):
                other = min(known)
                token = pairs[place][0]
                message = f"Is it '{token.text}' or '{other}' here? The source has '{other}'."
                yield finding_at(_KIND, token, message, index)


def _differ(word: str, other: str) -> bool:
    return not _mean_the_same(word, other) and any(
        word in group and other in group for group in _EXCHANGES
    )


def _mean_the_same(word: str, other: str) -> bool:
    return word == other or any(word in group and other in group for group in _SAME_MEANING)


def _swapped_neighbours(source: Analysis, sentences: Sequence[Sequence[Pair]]) -> Iterator[Finding]:
    """Pairs of words that have exchanged the words after them, function words aside: "$7 for the
    apples" and "$5 for the pears" where the source has it the other way round.

    Either both first words or both next words must be numbers or names. In the former case the next
    words must not be verbs: "Bob beat Ann" is right for "Ann, beaten by Bob".
    """
    tags = {key(word.text): word.upos for word in source}
    before = _next_words([[word.text for word in source if has_word(word.text)]])
    after = _next_words([[token.text for token, _ in pairs] for pairs in sentences])
    changed = [
        word for word in sorted(before.keys() & after.keys()) if not before[word] & after[word]
    ]
    for one, other in combinations(changed, 2):
        crossed = after[one] & before[other], after[other] & before[one]
        first = {tags.get(one), tags.get(other)}
        if not all(crossed) or len(first) > 1:
            continue
        following = {tags.get(word) for each in crossed for word in each}
        if not _are_facts(following) and ("VERB" in following or not _are_facts(first)):
            continue
        index, token = next(
            (index, token)
            for index, pairs in enumerate(sentences)
            for token, _ in pairs
            if key(token.text) == one
        )
        message = _SWAPPED.format(token.text, _spelt(source, other))
        yield finding_at(_KIND, token, message, index)


_SWAPPED = "Have '{}' and '{}' changed places? In the source it is the other way round."


def _spelt(source: Analysis, word: str) -> str:
    return next(each.text for each in source if key(each.text) == word)


def _are_facts(tags: Set[str | None]) -> bool:
    return tags in ({"NUM"}, {"PROPN"})


def _next_words(sentences: Sequence[Sequence[str]]) -> dict[str, set[str]]:
    following: dict[str, set[str]] = defaultdict(set)
    for sentence in sentences:
        content = [key(word) for word in sentence if key(word) not in _FUNCTION]
        for left, right in pairwise(content):
            following[left].add(right)
    return following


_FUNCTION = lexicon.FUNCTION_WORDS | lexicon.MODALS
_BEFORE, _AFTER = 2, 3
"""The words before and after a word that are compared."""
_CONTENT = frozenset(("NOUN", "PROPN", "NUM", "ADJ", "ADV"))


def _swapped_words(source: Analysis, sentences: Sequence[Sequence[Pair]]) -> Iterator[Finding]:
    """Pairs of words of one sort, each of which now stands where the other stood."""
    spoken = [word for word in source if has_word(word.text)]
    before = [[key(word.text) for word in spoken]]
    after = [[key(token.text) for token, _ in pairs] for pairs in sentences]
    old, new = _only_places(before), _only_places(after)
    tags = {key(word.text): word.upos for word in spoken if word.upos in _CONTENT}
    common = [word for word in old if word in new and word in tags]
    for width in (range(-_BEFORE, 0), range(1, _AFTER + 1)):
        moved = [
            w for w in common if _around(before, old[w], width) != _around(after, new[w], width)
        ]
        for one, other in combinations(moved, 2):
            if tags[one] != tags[other]:
                continue
            pair = {one: "*", other: "*"}
            places = (old[one], old[other]), (new[other], new[one])
            was = [_around(before, place, width, pair) for place in places[0]]
            is_ = [_around(after, place, width, pair) for place in places[1]]
            if was == is_ and was[0] != was[1] and all(map(any, was)):
                index, place = new[one]
                token = sentences[index][place][0]
                message = _SWAPPED.format(token.text, _spelt(source, other))
                yield finding_at(_KIND, token, message, index)


def _only_places(sentences: Sequence[Sequence[str]]) -> dict[str, tuple[int, int]]:
    """The sentence and the place of each word that occurs once."""
    counts = Counter(word for sentence in sentences for word in sentence)
    return {
        word: (index, place)
        for index, sentence in enumerate(sentences)
        for place, word in enumerate(sentence)
        if counts[word] == 1
    }


def _around(
    sentences: Sequence[Sequence[str]],
    place: tuple[int, int],
    width: range,
    masked: Mapping[str, str] = MappingProxyType({}),
) -> list[str]:
    sentence, middle = sentences[place[0]], place[1]
    found = (middle + step for step in width)
    words_there = [sentence[at] if 0 <= at < len(sentence) else "" for at in found]
    return [masked.get(word, word) for word in words_there]


def _swapped_parts(
    source: Analysis, simple: Sequence[Analysis | None], origins: Sequence[Origins]
) -> Iterator[Finding]:
    """Nouns that do what is done to them in the source, or the other way round."""
    referents = Referents(source)
    uses = Counter(word.index for origin in origins for word in origin.used())
    forms = Counter(lemma for word in source for lemma in lemmas(key(word.text)))
    for index, (tree, origin) in enumerate(zip(simple, origins, strict=True)):
        for word in tree or ():
            verb = origin.any(word)
            if tree is None or verb is None or word.upos != "VERB":
                continue
            is_once = uses[verb.index] == 1
            is_only = all(forms[lemma] == 1 for lemma in lemmas(key(verb.text)))
            before = _parts(source, verb)
            for part, noun in _parts(tree, word).items():
                came_from, other = origin.any(noun), before.get(part)
                if came_from is None or (other and referents.are_same(other, came_from)):
                    continue
                mine = next(
                    (n for n, each in before.items() if each.index == came_from.index), None
                )
                is_turned = {part, mine} == {"agent", "patient"} and all(
                    _is_certain(each, of) for each, of in ((tree, noun), (source, came_from))
                )
                is_swapped = other is not None and any(
                    referents.are_same(each, came_from) for each in before.values()
                )
                # "It has a hall" may be said twice; "include" may come from "including".
                if (is_turned and (is_only or is_once)) or (is_swapped and is_only and is_once):
                    message = _who(tree, noun, source, other, part)
                    yield finding_at(_KIND, noun, message, index)


def _turned_voices(
    source: Analysis, simple: Sequence[Analysis | None], origins: Sequence[Origins]
) -> Iterator[Finding]:
    """Subjects that now do what is done to them in the source: "He helped the others" for "He was
    helped by the others"."""
    for index, (tree, origin) in enumerate(zip(simple, origins, strict=True)):
        for subject in tree or ():
            if tree is None or subject.relation != "nsubj":
                continue
            verb = tree[subject.head]
            before = origin.any(verb)
            if before is None or not source.children(before.index, "aux:pass"):
                continue
            is_active = verb.xpos in ("VBD", "VBZ", "VBP") and tree.children(verb.index, "obj")
            if not is_active or tree.children(verb.index, "aux"):
                continue
            own, same = source.children(before.index, "nsubj"), origin.any(subject)
            if same is not None and [word.index for word in own] == [same.index]:
                message = f"Does '{subject.text}' do this ('{verb.text}')? "
                yield finding_at(_KIND, subject, f"{message}In the source it is done to it.", index)


_OBJECTS = {"i": "me", "we": "us", "he": "him", "she": "her", "they": "them"}


def _turned_pronouns(
    source: Analysis, simple: Sequence[Analysis | None], origins: Sequence[Origins]
) -> Iterator[Finding]:
    """Nouns that have changed places with a pronoun: "Ann came back to him" for "He came back to
    Ann"."""
    for index, (tree, origin) in enumerate(zip(simple, origins, strict=True)):
        for subject in tree or ():
            noun = origin.any(subject)
            if tree is None or subject.relation != "nsubj" or noun is None or not is_noun(noun):
                continue
            verb = tree[subject.head]
            before = origin.any(verb)
            if before is None or noun.index not in source.subtree(before.index):
                continue
            passives = (
                source.children(before.index, "aux:pass"),
                tree.children(verb.index, "aux:pass"),
            )
            own = source.children(before.index, "nsubj")
            if bool(passives[0]) != bool(passives[1]) or len(own) != 1 or noun.index < before.index:
                continue
            form = _OBJECTS.get(key(own[0].text))
            after = [tree[place] for place in tree.subtree(verb.index) if place > verb.index]
            if form is None or not any(key(word.text) == form for word in after):
                continue
            if form in {key(word.text) for word in source.words[before.index :]}:
                continue
            named = that_noun(tree, subject)
            said = verb_phrase(tree, verb, without=subject)
            message = f"Is it {named} or '{own[0].text}' that {said}? "
            yield finding_at(
                _KIND, subject, f"{message}In the source it is '{own[0].text}'.", index
            )


def _who(tree: Analysis, noun: Word, source: Analysis, other: Word | None, part: str) -> str:
    """What an editor is asked about a noun that has another part than in the source."""
    verb, named = tree[noun.head], that_noun(tree, noun)
    if other is None:
        return f"Does {named} do this ('{verb.text}'), or is it done to {named}? See the source."
    meant = that_noun(source, other)
    if noun.relation == "nsubj":
        asked = f"Is it {named} or {meant} that {verb_phrase(tree, verb, without=other)}?"
    else:
        after = {"patient": "", "agent": " by"}.get(part, f" ... {part}")
        asked = f"'{verb.text}{after}' whom or what: {named} or {meant}?"
    return f"{asked} In the source it is {meant}."


def _parts(tree: Analysis, verb: Word) -> Mapping[str, Word]:
    """The nouns that have a part in what a verb says: agent, patient, or by preposition."""
    found: dict[str, Word] = {}
    for child in tree.children(verb.index):
        part = _part(tree, child, verb)
        if part and is_noun(child):
            found.setdefault(part, child)
    if "agent" not in found and verb.relation == "conj" and not tree.children(verb.index, "nsubj"):
        head = tree[verb.head]
        between = tree.words[head.index : verb.index]
        if not any(word.relation == "acl" for word in between):
            first = _parts(tree, head).get("agent")
            if first is not None:
                is_passive = tree.children(verb.index, "aux:pass")
                found.setdefault("patient" if is_passive else "agent", first)
    return found


def _part(tree: Analysis, word: Word, verb: Word) -> str | None:
    """The part of a noun in what its verb says; None if it is not certain."""
    is_passive = bool(tree.children(verb.index, "aux:pass"))
    match word.relation:
        case "nsubj" if is_passive:
            # "He was paid a fee" and "a fee was paid" have different subjects.
            return None if tree.children(verb.index, "obj") else "patient"
        case "nsubj" if verb.upos == "VERB" and not tree.children(verb.index, "cop"):
            return "agent"
        case "iobj":
            return "to"
        case "obj":
            return "patient"
        case "obl":
            cases = [key(each.text) for each in tree.children(word.index, "case")]
            if cases == ["by"]:
                passive = is_passive or (verb.xpos, verb.deprel) == ("VBN", "acl")
                return "agent" if passive else None
            return cases[0] if cases in (["to"], ["from"], ["with"]) else None
    return None


def _is_certain(tree: Analysis, noun: Word) -> bool:
    """Whether a parser can tell the part of a noun; it cannot for "the goods left there"."""
    if noun.relation != "nsubj" or tree.children(noun.head, "aux:pass"):
        return True
    return bool(tree.children(noun.head, "obj", "iobj"))


def _reversed_events(source: Analysis, sentences: Sequence[Sequence[Pair]]) -> Iterator[Finding]:
    """Sentences that begin with "Then" and tell what the source tells first."""
    for index, (before, pairs) in enumerate(pairwise(sentences), start=1):
        one, other = _first_verb(source, before), _first_verb(source, pairs)
        if one is None or other is None or other.index >= one.index:
            continue
        later = _later(pairs) or _then(pairs, other)
        if later is None:
            continue
        # Verbs of one list follow one another, whatever the rest of the source says.
        is_list = _first_of_list(source, one) == _first_of_list(source, other)
        between = source.words[other.index : one.index] if is_list else source.words
        if any(key(word.text) in _TIES and _is_tie(word, is_list) for word in between):
            continue
        message = f"What came first? The source tells '{other.text}' before '{one.text}'."
        yield finding_at(_KIND, later, message, index)


def _later(pairs: Sequence[Pair]) -> OutputToken | None:
    """The word that puts a sentence after the one before it: "then", "After that"."""
    later = (token for token, _ in pairs[:3] if key(token.text) in _LATER)
    return _opener(pairs, "after") or next(later, None)


def _then(pairs: Sequence[Pair], verb: Word) -> OutputToken | None:
    """The word "then" right before a verb."""
    for (token, _), (_, word) in pairwise(pairs):
        if key(token.text) == "then" and word is not None and word.index == verb.index:
            return token
    return None


def _opener(pairs: Sequence[Pair], preposition: str) -> OutputToken | None:
    """The first word of a sentence that opens with a preposition and "that": "Before that"."""
    opening = [key(token.text) for token, _ in pairs[:2]]
    is_opener = len(opening) == 2 and opening[0] == preposition and opening[1] in _THAT
    return pairs[0][0] if is_opener else None


def _first_of_list(source: Analysis, verb: Word) -> int:
    """The first of the verbs that a verb is joined to."""
    while verb.relation == "conj" and verb.head >= 0:
        verb = source[verb.head]
    return verb.index


def _is_tie(word: Word, is_list: bool) -> bool:
    """Whether a word may change the order of events; "as a clerk" does not."""
    return not is_list or word.relation != "case" or key(word.text) not in ("as", "by")


def _reversed_clauses(source: Analysis, sentences: Sequence[Sequence[Pair]]) -> Iterator[Finding]:
    """Sentences with "After that" that tell what was before, or the other way round, where the
    source joins both events with "before", "after" or "after which"."""
    places = [{word.index for _, word in pairs if word is not None} for pairs in sentences]
    for clause in source:
        events = _ordered(source, clause)
        if events is None:
            continue
        first, last = events
        for index, (before, here) in enumerate(pairwise(places), start=1):
            if {first.index, last.index} & before & here:
                continue
            token = None
            if last.index in before and first.index in here:
                token = _later(sentences[index])
            elif first.index in before and last.index in here:
                token = _opener(sentences[index], "before")
            if token is not None:
                message = f"What came first: '{first.text}' or '{last.text}'? "
                message += f"In the source it is '{first.text}'."
                yield finding_at(_KIND, token, message, index)


def _ordered(source: Analysis, clause: Word) -> tuple[Word, Word] | None:
    """The earlier and the later event of two that "before", "after" or "after which" joins."""
    if clause.relation == "advcl" and not source.children(clause.index, "cc"):
        marks = [key(word.text) for word in source.children(clause.index, "mark")]
        main = source[clause.head]
        if marks == ["before"]:
            return main, clause
        return (clause, main) if marks == ["after"] else None
    opening = [source[place] for place in source.subtree(clause.index)]
    spoken = [key(word.text) for word in opening if has_word(word.text)]
    if clause.deprel != "acl:relcl" or spoken[:2] != ["after", "which"]:
        return None
    main = source[clause.head]
    while main.upos != "VERB" and main.head >= 0:
        main = source[main.head]
    return (main, clause) if main.upos == "VERB" else None


_TURNING = words("if unless because when after before until once since")


def _turned_clauses(
    source: Analysis, simple: Sequence[Analysis | None], origins: Sequence[Origins]
) -> Iterator[Finding]:
    """Sentences whose main clause and subordinate clause have changed places: "If it rings, the
    bell breaks" for "If the bell breaks, it rings"."""
    for index, (tree, origin) in enumerate(zip(simple, origins, strict=True)):
        for clause in tree or ():
            mark = _mark(tree, clause) if tree is not None else None
            if tree is None or mark is None or clause.relation != "advcl":
                continue
            inner, outer = origin.any(clause), origin.any(tree[clause.head])
            if inner is None or outer is None:
                continue
            if outer.relation != "advcl" or inner.relation == "advcl":
                continue
            there = _mark(source, outer)
            if outer.head != inner.index or there is None or key(there.text) != key(mark.text):
                continue
            message = f"'{mark.text}' what: '{clause.text}' or '{outer.text}'? "
            message += f"In the source it is '{outer.text}'."
            yield finding_at(_KIND, mark, message, index)


def _mark(tree: Analysis, clause: Word) -> Word | None:
    """The conjunction that opens a clause."""
    links = tree.children(clause.index, "mark", "advmod")
    return next((word for word in links if key(word.text) in _TURNING), None)


_TIMES = words("before after until till since during")


def _other_times(source: Analysis, sentences: Sequence[Sequence[Pair]]) -> Iterator[Finding]:
    """Another preposition or conjunction of time before the same two words."""
    told: dict[tuple[str, str], set[str]] = defaultdict(set)
    spoken = [key(word.text) for word in source if has_word(word.text)]
    for *before, left, right in zip(["", *spoken], spoken, spoken[1:], spoken[2:], strict=False):
        told[left, right].add("before" if before == ["prior", "to"] else before[-1])
    written = Counter(key(token.text) for pairs in sentences for token, _ in pairs)
    lost = {word for word, count in Counter(spoken).items() if written[word] < count}
    if "prior" in lost:
        lost.add("before")
    for index, pairs in enumerate(sentences):
        for (token, _), *after in zip(pairs, pairs[1:], pairs[2:], strict=False):
            left, right = (key(each.text) for each, _ in after)
            known = told.get((left, right), set())
            word = key(token.text)
            if word not in _TIMES or {left, right} <= lexicon.FUNCTION_WORDS:
                continue
            if (
                known
                and known <= _TIMES & lost
                and not any(_mean_the_same(word, each) for each in known)
            ):
                other = min(known) if min(known) in spoken else "prior to"
                message = f"Is it '{token.text}' or '{other}' here? The source has '{other}'."
                yield finding_at(_KIND, token, message, index)


def _first_verb(source: Analysis, pairs: Sequence[Pair]) -> Word | None:
    """The first finite verb of a sentence, if possible one that is in no subordinate clause."""
    found = [word for _, word in pairs if word is not None and word.xpos in ("VBD", "VBZ", "VBP")]
    verbs = [word for word in found if word.upos == "VERB"]
    return next((w for w in verbs if w.relation in ("root", "conj")), next(iter(verbs), None))


def _moved_dates(source: Analysis, sentences: Sequence[Sequence[Pair]]) -> Iterator[Finding]:
    """Dates that stand with another verb than in the source."""
    places = [{word.index for _, word in pairs if word is not None} for pairs in sentences]
    for date in source:
        verb = source[date.head]
        if date.relation != "obl" or not _is_date(date) or verb.upos != "VERB":
            continue
        between = source.words[verb.index + 1 : date.index]
        if date.index < verb.index or any(word.upos == "VERB" for word in between):
            continue
        with_date = [index for index, own in enumerate(places) if date.index in own]
        with_verb = [index for index, own in enumerate(places) if verb.index in own]
        if len(with_date) != 1 or len(with_verb) != 1 or with_date == with_verb:
            continue
        index = with_date[0]
        finite = [w for _, w in sentences[index] if w is not None and w.upos == "VERB"]
        token = next(t for t, w in sentences[index] if w is not None and w.index == date.index)
        if finite:
            message = f"What happened then ('{date.text}'): '{verb.text}' or '{finite[0].text}'? "
            message += f"In the source it is '{verb.text}'."
            yield finding_at(_KIND, token, message, index)


def _is_date(word: Word) -> bool:
    text = key(word.text)
    return text in lexicon.DATE_WORDS or (text.isdigit() and len(text) == 4)
