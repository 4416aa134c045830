"""What always holds for the roles of relative words, enforced on what the model predicts.

In PropBank a relative word ("who", "to which", "most of whom", "where") has the role of its
antecedent with "R-" before it, and the antecedent stands before it in the same frame. The model
tags each word on its own and sometimes breaks this; its trees are more reliable than its tags.
"""

from collections.abc import Sequence
from dataclasses import replace

from parataxis.syntax.analysis import ROOT, Analysis, Argument

__all__ = ["reconcile"]

RELATIVE_TAGS = frozenset(("WDT", "WP", "WP$", "WRB"))
BEFORE_NOUN = ("det", "amod", "nummod", "compound", "nmod:poss", "flat")
LONGEST = 4
"""No relative phrase is longer ("most of all of which" has five words and is rare)."""


def reconcile(analysis: Analysis, arguments: Sequence[Argument]) -> tuple[Argument, ...]:
    """Make the roles of relative words agree with their antecedents.

    - "most of" and "whom", tagged as two arguments, become the one relative phrase they are;
    - "a time" and "when" with one and the same role become a role and its relative;
    - a relative word takes the role of the argument right before it;
    - where the frame lacks the antecedent, the noun that the clause hangs on is added to it;
    - a relative word without any antecedent is no argument.
    """
    found: list[Argument] = []
    for place, argument in enumerate(arguments):
        if not _is_relative(analysis, argument):
            found.append(argument)
        elif argument.label not in {later.label for later in arguments[place + 1 :]}:
            found = _with_relative(analysis, found, argument, arguments)
    return tuple(sorted(found, key=lambda a: a.first))


def _with_relative(
    analysis: Analysis, found: list[Argument], argument: Argument, all_: Sequence[Argument]
) -> list[Argument]:
    """The arguments found so far with a relative word added, or passed over."""
    before, phrase = _whole_phrase(analysis, found, argument)
    antecedent = _antecedent(analysis, before, phrase)
    if not argument.label.startswith("R-"):
        if antecedent is None or antecedent.label != argument.label:
            return [*found, argument]
        return [*before, replace(phrase, label=f"R-{argument.label}")]
    if antecedent is None:
        antecedent = _from_tree(analysis, before, phrase)
        if antecedent is None or any(a.label == antecedent.label for a in all_):
            return found
        before = [*before, antecedent]
    return [*before, replace(phrase, label=f"R-{antecedent.label}")]


def _is_relative(analysis: Analysis, argument: Argument) -> bool:
    words = analysis.words[argument.first : argument.last + 1]
    # The model often tags "whose" like "his".
    return len(words) <= LONGEST and any(
        word.xpos in RELATIVE_TAGS or word.text.lower() == "whose" for word in words
    )


def _whole_phrase(
    analysis: Analysis, found: list[Argument], argument: Argument
) -> tuple[list[Argument], Argument]:
    """Join "most of" or "to", where it was tagged apart, with the relative word it belongs to."""
    if not found or found[-1].last + 1 != argument.first:
        return found, argument
    before = found[-1]
    if analysis[before.last].upos != "ADP":
        return found, argument
    if len(found) > 1 and before.last - before.first < LONGEST - 1:
        return found[:-1], replace(argument, first=before.first)
    if before.first < before.last:
        shorter = replace(before, last=before.last - 1)
        return [*found[:-1], shorter], replace(argument, first=before.last)
    return found, argument


def _antecedent(analysis: Analysis, found: list[Argument], argument: Argument) -> Argument | None:
    """The argument right before a relative word, or the one whose role it was given."""
    earlier = [a for a in found if not a.label.startswith(("R-", "C-"))]
    gap = analysis.words[earlier[-1].last + 1 : argument.first] if earlier else ()
    if earlier and all(word.upos == "PUNCT" for word in gap):
        return earlier[-1] if analysis[earlier[-1].last].upos != "ADV" else None
    same = [a for a in earlier if f"R-{a.label}" == argument.label]
    return same[-1] if same else None


def _from_tree(analysis: Analysis, found: list[Argument], argument: Argument) -> Argument | None:
    """The noun phrase that governs the clause of a relative word, as an argument."""
    place = argument.last
    while analysis[place].deprel not in ("acl:relcl", "advcl:relcl"):
        place = analysis[place].head
        if place == ROOT:
            return None
    noun = analysis[place].head
    edge = [w.index for w in analysis.children(noun, *BEFORE_NOUN) if w.index < noun]
    first = min([noun, *edge])
    if noun >= argument.first or any(a.last >= first for a in found):
        return None
    return Argument(first, noun, argument.label.removeprefix("R-"))
