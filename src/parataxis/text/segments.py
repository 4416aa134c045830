"""Rule-based sentence segmentation: the layout gives runs of text, stops split them into sentences.

Only stops before a space (and a few clear cases without one) can end a sentence; the word before
and the word after the stop decide.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from parataxis.text.english import (
    ABBREVIATIONS,
    BEFORE_NAME,
    BEFORE_NUMBER,
    MAY_END,
    NEVER_END,
    STARTERS,
)
from parataxis.text.layout import Run, find_runs, label_length


@dataclass(frozen=True, slots=True)
class Span:
    """A sentence: its place in the document, and its text on one line, as a splitter reads it.

    In ``text``, a line break with the space around it and a run of blanks and tabs become one
    space; no-break and thin spaces stay. The marks of the margin (">") are left out.
    """

    start: int
    end: int
    text: str


def places_of(text: str, span: Span) -> list[int]:
    """Where in the text each character of a sentence is, and its end: the sentence has its white
    space joined, and lacks the marks of margins."""
    if text[span.start : span.end] == span.text:
        return list(range(span.start, span.end + 1))
    places, place = [], span.start
    for character in span.text:
        if not character.isspace():
            place = max(place, text.find(character, place, span.end))
        places.append(place)
        place += 1
    return [min(each, span.end) for each in [*places, span.end]]


def sentence_spans(text: str, *, fence: str = "") -> list[Span]:
    """Find the sentences of a plain-text or Markdown document.

    ``fence`` is the fence of a code block ("```") that is open where the text begins.

    >>> [span.text for span in sentence_spans("Mr. Lee left the U.S. in May.  He is\\nback.")]
    ['Mr. Lee left the U.S. in May.', 'He is back.']
    """
    return [span for run in find_runs(text, fence=fence) for span in _run_spans(text, run)]


def join_run(text: str, run: Sequence[tuple[int, int]]) -> tuple[str, Callable[[int], int]]:
    """The pieces of a run, each on its line, and where in the text their characters are."""
    offsets = [0, *accumulate(end - start + 1 for start, end in run)]

    def place(index: int) -> int:
        piece = bisect_right(offsets, index) - 1
        return run[piece][0] + index - offsets[piece]

    return "\n".join(text[start:end] for start, end in run), place


def _run_spans(text: str, run: Run) -> Iterator[Span]:
    joined, place = join_run(text, run)
    begin = 0
    for end in [*sentence_ends(joined), len(joined)]:
        start = begin + label_length(joined[begin:end]) if begin else 0
        sentence = joined[start:end].strip()
        if sentence:
            first = joined.index(sentence[0], start)
            last = first + len(sentence) - 1
            yield Span(place(first), place(last) + 1, on_one_line(sentence))
        begin = end


_SET_SPACES = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
"""No-break, thin and other spaces that writers use on purpose."""

_SPACES = re.compile(rf"\s{{2,}}|[^\S {_SET_SPACES}]")
_BLANKS = re.compile(rf"[^\S{_SET_SPACES}]+")
_LINE_BREAK = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")


def on_one_line(sentence: str) -> str:
    """A sentence without line breaks, with runs of blanks as one space.

    >>> on_one_line("He is\\n  back.")
    'He is back.'
    """

    def one_space(spaces: re.Match[str]) -> str:
        return " " if _LINE_BREAK.search(spaces[0]) else _BLANKS.sub(" ", spaces[0])

    return _SPACES.sub(one_space, sentence)


_EMOJI = "\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff\ufe0f\u200d"
_EMOTICON = r"[:;=]['-]?[)(DP]{1,9}(?!\w)"
_CLOSING = r"\"'”’»)\]}*_`"
_OPENING = r"\"'“‘«(\[{*_`¿¡"

# Searching for one of a set of characters is many times faster than for the whole pattern.
_CANDIDATE = re.compile(rf"[.!?…。！？`\]:;={_EMOJI}]")

# Repetitions are possessive and begin where the run of marks begins: linear time on any text.
_STOP = re.compile(
    rf"""
    # Markdown code and the address of a link: no sentence ends inside.
    (?P<verbatim> ``(?:[^`]|`(?!`)){{1,500}}`` | `[^`]{{1,500}}`
      | \]\([^()\s]{{0,2000}}(?:\s+"[^"]{{0,500}}")?\) )
    | (?: (?<![.!?…]) (?P<mark> [.!?…]++ (?:\s\.(?=\s)){{0,8}}+ )
          (?P<closing> [{_CLOSING}]{{0,9}}+ (?:\s[)\]”](?=\s))?+ )
          (?: \s?\[(?:\d{{1,3}}|…|\.\.\.)\] ){{0,9}}+       # notes: "in Ohio.[3]"
          (?: \s?(?:[{_EMOJI}]++|{_EMOTICON}) )?+           # "I love it! 😀"
        | (?P<face> {_EMOTICON}(?=\s) | (?<![{_EMOJI}])[{_EMOJI}]++(?=\s+[{_OPENING}]{{0,9}}[A-Z]) )
      )
      (?P<space> \s++ ) (?P<after> \S+ )
    | (?P<glued> [.!?] ) (?P<next> [A-Z][a-z']{{0,20}} )(?=\s)
    | (?P<wide> [。！？]++ [”’」』）]* )
    """,
    re.VERBOSE,
)

_WORD_BEFORE = re.compile(r"[^\s(\[{\"“‘—–/]*$")
_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_INITIAL = re.compile(r"[A-Z]\.")
_LETTER = re.compile(r"[^\W\d_]")
_LETTERED = re.compile(
    r"\b(?i:exhibit|appendix|schedule|annex|class|series|group|plan|type|phase|vitamin|grade)\s+[A-Z]$"
)
_SMALL_WORD = re.compile(r"[a-z]*[aeiouy][a-z]*")
_TOO_LONG_TO_SHORTEN = 7
_CARELESS = re.compile(r"[a-z]|.{0,2000}?\bi\b(?![.)])", re.DOTALL)
_FIRST_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_HOUR = re.compile(r"[ap]\.?m", re.IGNORECASE)
_ZONES = frozenset(["Eastern", "Central", "Mountain", "Pacific", "Atlantic", "Greenwich"])
_NUMBER = re.compile(r"[\d§#]|\(\w{1,4}\)")
_LETTER_NUMBER = re.compile(r"(?:[IVXLC]+|[A-Z])\b")
_SPEAKER = re.compile(
    r"(?:I|[A-Z][\w’'-]{1,20}(?:\s[A-Z][\w’'-]{1,20})?)\s(?:said|says|asked|asks|replied|answered"
    r"|cried|called|shouted|screamed|whispered|added|exclaimed|wondered|demanded|inquired)\b"
)
_STARTS_SMALL = re.compile(r"\W*`|\([a-z0-9]{1,4}\)$")
_YEAR = re.compile(r"\(\d{4}\b")
_ENUMERATOR = re.compile(
    r"\s*(?:(?i:article|section|sec\.|clause|chapter|part|figure|fig\.|table|§+)\s*)?"
    r"(?:\d{1,3}(?:\.\d{1,3})*|[IVXLC]{1,5}|[A-Za-z])"
)
_BEFORE_ANY = frozenset(["etc", "Esq"])
_CLAIMED = re.compile(r"[,;:.?!)\]]")


def sentence_ends(run: str) -> list[int]:
    """Where the sentences of one run of text end, except the last one.

    >>> sentence_ends("It is 5 p.m. in Rome. Go!")
    [21]
    """
    ends = [0]
    position = 0
    while candidate := _CANDIDATE.search(run, position):
        match = _STOP.match(run, candidate.start())
        if match is None:
            position = candidate.end()
            continue
        position = match.end()
        if match["wide"] is not None:
            ends.append(position)
        elif match["glued"] is not None:
            position = match.start("next")
            if match["next"] in STARTERS and run[match.start() - 1 : match.start()].islower():
                ends.append(position)
        elif match["verbatim"] is None:
            position = match.start("space")
            if _ends_sentence(run, ends[-1], match):
                ends.append(position)
    return [end for end in ends[1:] if end < len(run)]


def _ends_sentence(run: str, begin: int, match: re.Match[str]) -> bool:
    """Whether this stop ends the sentence that begins at ``begin``."""
    after = match["after"]
    if _CLAIMED.match(after) or _YEAR.match(after):  # "Viva Maria! (1965)"
        return False
    bare = after.lstrip("\"'“‘«([{*_`¿¡")
    # "iPhone", "`code`" and "(b)" are in lower case even at the start of a sentence.
    goes_on = bare[:1].islower() and not (bare[1:2].isupper() or _STARTS_SMALL.match(after))
    if match["mark"] != ".":
        return _mark_ends(run, match, goes_on=goes_on)
    if _ENUMERATOR.fullmatch(run, begin, match.start()):
        return False
    window = max(begin, match.start() - 40), match.start()
    before = _WORD_BEFORE.search(run, *window)
    name = before.group().lstrip("'’*_`") if before else ""
    if goes_on:
        # A careless writer may begin a sentence in lower case; otherwise it was an abbreviation.
        plain = _SMALL_WORD.fullmatch(name) and name not in ABBREVIATIONS and not match["closing"]
        return bool(plain) and (len(name) >= _TOO_LONG_TO_SHORTEN or bool(_CARELESS.match(run)))
    if match["closing"] or _LETTERED.search(run, *window):
        return True
    return _name_ends(name, after, bare)


def _mark_ends(run: str, match: re.Match[str], *, goes_on: bool) -> bool:
    """Whether an exclamation mark, question mark, ellipsis or emoticon ends the sentence."""
    mark = match["mark"]
    if mark == "!" and run.endswith("Yahoo", 0, match.start()):
        return False
    if match["closing"] and _SPEAKER.match(run, match.start("after")):  # "Who?" Ann asked.
        return False
    # "Who?" she asked. But: who? she never asked.
    return not goes_on or not (match["closing"] or mark is None or mark[0] in ".…")


def _name_ends(name: str, after: str, bare: str) -> bool:
    """Whether "name." ends a sentence, given that the next word is not in lower case."""
    if len(name) > 1 and name.isupper() and name not in ABBREVIATIONS:
        name = name.capitalize()  # "NO. 5", "GEN. LEE"
    if name in BEFORE_NAME or name in NEVER_END:
        return False
    if name in _BEFORE_ANY:
        return after[0] != "("
    if name in BEFORE_NUMBER:
        is_lettered = name[0].isupper() and name != "No" and _LETTER_NUMBER.match(after)
        return not (_NUMBER.match(after) or is_lettered)
    match = _FIRST_WORD.match(bare)
    word = match.group() if match and not _INITIAL.fullmatch(bare) else ""
    if _HOUR.fullmatch(name):
        return not (after[0] == "(" or word.isupper() or word in _ZONES)
    if name in MAY_END or _DOTTED.fullmatch(name) or (_LETTER.fullmatch(name) and name != "I"):
        return word in STARTERS and after[0] != "("
    return True
