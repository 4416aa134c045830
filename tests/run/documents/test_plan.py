"""What of a sentence stays in its place when it is rewritten."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parataxis.rewrite.record import Rewrite
from parataxis.run.documents.plan import Kept, New, Plan, make_plan


def rewrite(source: str, *simple: str) -> Rewrite:
    return Rewrite(source=source, simple=simple, splitter="mine")


def shown(source: str, plan: Plan) -> str:
    """The plan as a reader of tracked changes sees it: deleted [-words-], new {+words+}."""
    parts, end = [], 0
    for part in [*plan, Kept(len(source), len(source))]:
        if isinstance(part, New):
            parts.append(f"{{+{part.text}+}}")
            continue
        if part.start > end:
            parts.append(f"[-{source[end : part.start]}-]")
        parts.append(source[part.start : part.end])
        end = part.end
    return "".join(parts).replace("+}{+", "")


@pytest.mark.parametrize(
    ("source", "simple", "expected"),
    [
        (
            "Two men were accused, and one of them fled.",
            ["Two men were accused.", "One of them fled."],
            "Two men were accused{+. One+}[-, and one-] of them fled.",
        ),
        (
            "The coach, who fell twice, would attempt the jump.",
            ["The coach would attempt the jump.", "The coach fell twice."],
            "The coach[-, who fell twice,-] would attempt the jump{+. The coach fell twice+}.",
        ),
        (
            "Having no agent, the pianist waited for news.",
            ["The pianist had no agent.", "The pianist waited for news."],
            "{+The pianist had+}[-Having-] no agent{+. The+}[-, the-] pianist waited for news.",
        ),
        ("Go, and sin no more!", ["Go.", "Sin no more!"], "Go{+. Sin+}[-, and sin-] no more!"),
    ],
)
def test_plan_changes_little_and_reads_well(source: str, simple: list[str], expected: str) -> None:
    plan = make_plan(rewrite(source, *simple))
    assert plan is not None
    assert shown(source, plan) == expected


def test_plan_keeps_what_must_stay_in_one_piece() -> None:
    source = "The Tenant, who signed Section 4, shall pay the rent."
    made = rewrite(source, "The Tenant shall pay the rent.", "The Tenant signed Section 4.")
    start = source.index("Section")
    free, held = make_plan(made), make_plan(made, whole=[(start, start + len("Section 4"))])
    assert free is not None
    assert held is not None
    assert "signed Section 4[-" not in shown(source, free)
    assert shown(source, held) == (
        "The Tenant{+ shall pay the rent. The Tenant+}[-, who-] signed Section 4"
        "[-, shall pay the rent-]."
    )


def test_plan_is_none_where_something_must_stay_and_cannot() -> None:
    source = "Ann, who sang, left."
    lost = rewrite(source, "Ann left.", "She was loud.")
    assert make_plan(lost, pinned=[source.index("sang")]) is None
    moved = rewrite(source, "Ann left.", "Ann sang.")
    assert make_plan(moved, whole=[(0, source.index(" left"))]) is None
    both = [source.index("sang"), source.index("left")]
    assert make_plan(moved, pinned=both) is None


def test_plan_keeps_part_of_what_is_commented_on() -> None:
    source = "Ann, who sang, left."
    made = rewrite(source, "Ann left.", "She was loud.")
    assert make_plan(made, partly=[(0, source.index(" sang"))]) is not None
    assert make_plan(made, partly=[(source.index("who"), source.index(", left"))]) is None


def test_plan_words_of_code_come_only_as_they_are() -> None:
    source = "Run x, which reads y."
    made = rewrite(source, "Run x.", "It reads y.", "X is fast.")
    place = source.index("x")
    assert make_plan(made, verbatim=[(place, place + 1)]) is None
    assert make_plan(made) is not None


def test_plan_says_what_new_words_look_like() -> None:
    source = "Ann, serving tea, left."
    plan = make_plan(rewrite(source, "Ann left.", "She served hot tea."))
    assert plan is not None
    likes = {part.text: part.like for part in plan if isinstance(part, New)}
    assert likes["served"] == source.index("serving")  # as the word that it was
    assert likes["hot"] is likes["."] is None  # as what stands beside it


def test_plan_a_second_copy_of_a_link_does_not_look_like_one() -> None:
    source = "See Bob Lee, who sang."
    span = source.index("Bob"), source.index(",")
    plan = make_plan(rewrite(source, "See Bob Lee.", "Bob Lee sang."), whole=[span])
    assert plan is not None
    copies = [part for part in plan if isinstance(part, New) and part.text in ("Bob", "Lee")]
    assert [part.like for part in copies] == [span[0] - 1, span[0] - 1]


WORDS = st.sampled_from(["Ann", "the", "house", ",", "sang", "left", "old", "It"])


@given(st.lists(WORDS, min_size=1, max_size=15), st.lists(st.lists(WORDS, min_size=1, max_size=8),
       min_size=1, max_size=3))  # fmt: skip
def test_plan_gives_the_rewrite_and_keeps_the_order(
    source: list[str], simple: list[list[str]]
) -> None:
    made = rewrite(" ".join(source) + ".", *(" ".join(words) + "." for words in simple))
    plan = make_plan(made)
    assert plan is not None
    text = "".join(made.source[p.start : p.end] if isinstance(p, Kept) else p.text for p in plan)
    assert text == " ".join(made.simple)
    kept = [part for part in plan if isinstance(part, Kept)]
    assert all(one.end <= other.start for one, other in pairwise(kept))
    assert kept[-1].end == len(made.source)  # the last mark stays the last
