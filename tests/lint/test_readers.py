"""The running text of files: which sentences are looked at, and where they are."""

import io

import pytest

from parataxis.errors import InputError
from parataxis.lint.readers import LintFormat, format_of, read_source
from parataxis.rewrite.align import align
from parataxis.rewrite.record import Rewrite


def places(text: str, form: LintFormat) -> list[tuple[str, tuple[int, int]]]:
    """The sentences as the writer sees them, with line and column."""
    source = read_source(text, form)
    return [
        (sentence.shown(sentence.text), source.place(sentence, sentence.start))
        for sentence in source.sentences
    ]


def sentences(text: str, form: LintFormat) -> list[str]:
    return [sentence for sentence, _ in places(text, form)]


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a.txt", LintFormat.TEXT),
        ("a.MD", LintFormat.MARKDOWN),
        ("a.htm", LintFormat.HTML),
        ("a.docx", LintFormat.WORD),
        ("a.rst", LintFormat.RST),
        ("a.adoc", LintFormat.ASCIIDOC),
        ("a.py", LintFormat.PYTHON),
        ("a.pdf", None),
    ],
)
def test_format_of_goes_by_the_suffix(name: str, form: LintFormat | None) -> None:
    assert format_of(name) is form


def test_text_leaves_out_headings_quotations_tables_and_front_matter() -> None:
    text = """\
---
title: It is a title.
---
# It is a heading.

It is underlined.
=================

IT IS ALL CAPITALS.

Ann came.  Bob
left.

> It was quoted.

| It is | a table. |
|-------|----------|
| It is | a row.   |

"It was said," he said.
The word "rain" is quoted.
"""
    assert places(text, LintFormat.TEXT) == [
        ("Ann came.", (11, 1)),
        ("Bob left.", (11, 12)),
        ('The word "rain" is quoted.', (21, 1)),
    ]


def test_text_is_read_right_below_what_is_left_out() -> None:
    text = "# It is a heading.\nAnn came.\nparataxis: off\nBob left.\nparataxis: on\nCem slept.\n"
    assert places(text, LintFormat.TEXT) == [("Ann came.", (2, 1)), ("Cem slept.", (6, 1))]


def test_text_leaves_out_the_header_and_the_signature_of_an_email() -> None:
    text = "From: Ann\nSubject: It is a subject.\n\nBob left.\n\n-- \nAnn Reed is away.\n"
    assert places(text, LintFormat.TEXT) == [("Bob left.", (4, 1))]


def test_markdown_leaves_out_what_is_not_running_text() -> None:
    text = """\
---
title: It is a title.
---

# It is a heading.

It is **bold** and uses `a = b` here. See [the page](https://a.org).

[It is a whole link.](https://a.org)

> It was quoted.

- It is an item.

| It is a table. | b |
|---|---|
| It is a row. | c |

```
It is code.
```

    It is code, too.
"""
    assert places(text, LintFormat.MARKDOWN) == [
        ("It is bold and uses `a = b` here.", (7, 1)),
        ("See the page.", (7, 39)),
        ("It is an item.", (13, 3)),
    ]


def test_html_leaves_out_tables_quotations_and_code() -> None:
    text = """\
<h1>It is a heading.</h1>
<p>It is <b>bold</b> and uses <code>a = b</code> here.</p>
<blockquote><p>It was quoted.</p></blockquote>
<table><tr><td>It is a cell.</td></tr></table>
<pre>It is code.</pre>
<ul><li>It is an item.</li><li><a href="a">It is a link.</a></li></ul>
"""
    assert places(text, LintFormat.HTML) == [
        ("It is bold and uses <code>a = b</code> here.", (2, 4)),
        ("It is an item.", (6, 9)),
    ]


def test_rst_finds_paragraphs_items_notes_and_fields() -> None:
    text = """\
It is a heading.
================

It uses ``a = b`` and :func:`os.walk`, *see*
:ref:`the page <page>` or `this <https://a.org>`_.

- It is an item.

  1. It is an item
     in an item.

.. note:: It is a note.

.. versionchanged:: 2.0
   It has changed.

.. code-block:: python

   It is code.

.. toctree::

   It is a page.

It ends so::

   It is code, too.

Then:

   It is quoted.

+-----------+
| It is it. |
+-----------+

:param x: It is a parameter.
"""
    assert places(text, LintFormat.RST) == [
        ("It uses ``a = b`` and :func:`os.walk`, see the page or this.", (4, 1)),
        ("It is an item.", (7, 3)),
        ("It is an item in an item.", (9, 6)),
        ("It is a note.", (12, 11)),
        ("It has changed.", (15, 4)),
        ("It ends so::", (25, 1)),
        ("Then:", (29, 1)),
        ("It is a parameter.", (37, 11)),
    ]


def test_rst_tells_a_paragraph_from_the_same_words_in_code() -> None:
    text = """\
It is code::

   Ann came.

Ann came.

.. parataxis: off

Ann came.

.. parataxis: on

- Ann came.
"""
    assert places(text, LintFormat.RST) == [
        ("It is code::", (1, 1)),
        ("Ann came.", (5, 1)),
        ("Ann came.", (13, 3)),
    ]


def test_asciidoc_finds_paragraphs_items_and_notes() -> None:
    text = """\
= It is a title.
Ann Reed <ann@a.org>
:summary: It is an attribute.

It uses `a = b`, *see* https://a.org[the page] or
<<id,this>>.footnote:[It is a note.]

== It is a heading.

.It is a caption.
* It is an item.
** It is an item
in an item.
. It is a step.

NOTE: It is a note.

Term:: It is a definition.

----
It is code.
----

[quote, Ann Reed]
It is quoted.

[source]
It is code.

____
It is quoted, too.
____

|===
| It is a cell.
|===

 It is indented.

====
It is in an example.
====

// It is a comment.
"""
    assert places(text, LintFormat.ASCIIDOC) == [
        ("It uses `a = b`, see the page or this.", (5, 1)),
        ("It is an item.", (11, 3)),
        ("It is an item in an item.", (12, 4)),
        ("It is a step.", (14, 3)),
        ("It is a note.", (16, 7)),
        ("It is a definition.", (18, 8)),
        ("It is in an example.", (41, 1)),
    ]


def test_python_finds_comments_and_docstrings() -> None:
    text = '''\
#!/usr/bin/env python
"""It is a module: it uses ``a = b``
and é."""

X = "It is no docstring."  # It is a comment.


def f(x):  # noqa: ANN001
    """It is a function.

    It goes on. This is the
    end.

    Args:
        x (int): It is a parameter
            on two lines.
        y: It is another.

    >>> f("It is an example.")
    It is its output.

    It has code::

        It is code.
    """
    # It is a comment
    # on two lines.
    # print("It is code.")

    # if x:
    #     y = 1
    return "It is a string."
'''
    assert places(text, LintFormat.PYTHON) == [
        ("It is a module: it uses ``a = b`` and é.", (2, 4)),
        ("It is a comment.", (5, 30)),
        ("It is a function.", (9, 8)),
        ("It goes on.", (11, 5)),
        ("This is the end.", (11, 17)),
        ("It is a parameter on two lines.", (15, 18)),
        ("It is another.", (17, 12)),
        ("It has code::", (22, 5)),
        ("It is a comment on two lines.", (26, 7)),
    ]


def test_python_that_is_none_is_an_input_error() -> None:
    with pytest.raises(InputError, match=r"^a\.py, line 2: this is not Python that can be read\.$"):
        read_source("x = 1\ny = (", LintFormat.PYTHON, "a.py")


def test_word_leaves_out_tables_quotations_and_headings() -> None:
    docx = pytest.importorskip("docx")
    document = docx.Document()
    document.add_heading("It is a heading", 1)
    document.add_paragraph("It rained. Ann left.")
    document.add_paragraph("It was quoted.", style="Quote")
    document.add_table(1, 1).cell(0, 0).text = "It is a cell."
    stream = io.BytesIO()
    document.save(stream)
    source = read_source(stream.getvalue(), LintFormat.WORD)
    found = [(each.text, source.place(each, each.start)) for each in source.sentences]
    assert found == [("It rained.", (2, 1)), ("Ann left.", (2, 12))]


def test_a_comment_in_the_margin_switches_word() -> None:
    docx = pytest.importorskip("docx")
    document = docx.Document()
    for text, comment in (
        ("It rained.", "parataxis: on"),
        ("Ann left.", "parataxis: off"),
        ("Bob left.", "Really?"),
        ("It snowed.", "parataxis: on"),
    ):
        paragraph = document.add_paragraph(text)
        document.add_comment(paragraph.runs, comment)
    stream = io.BytesIO()
    document.save(stream)
    found = read_source(stream.getvalue(), LintFormat.WORD).sentences
    assert [each.text for each in found] == ["It rained.", "It snowed."]


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (
            LintFormat.TEXT,
            "I came.\n\nparataxis: off\n\nIt rained.\n\n# parataxis: on\n\nI left.",
        ),
        (
            LintFormat.MARKDOWN,
            "I came.\n\n<!-- parataxis: off -->\nIt rained.\n\n<!-- parataxis: on -->\n\nI left.",
        ),
        (
            LintFormat.HTML,
            "<p>I came.</p><!--parataxis: off--><p>It rained.</p><!--parataxis:on--><p>I left.</p>",
        ),
        (
            LintFormat.RST,
            "I came.\n\n.. parataxis: off\n\nIt rained.\n\n.. parataxis: on\n\nI left.",
        ),
        (
            LintFormat.ASCIIDOC,
            "I came.\n\n// parataxis: off\nIt rained.\n\n// parataxis: on\n\nI left.",
        ),
        (
            LintFormat.PYTHON,
            "# I came.\n\n# parataxis: off\n\n# It rained.\n\n# parataxis: on\n\n# I left.",
        ),
    ],
)
def test_a_comment_switches_off_and_on(form: LintFormat, text: str) -> None:
    assert sentences(text, form) == ["I came.", "I left."]


# Quadratic work would take hours here.
@pytest.mark.parametrize("blank", [" ", "\t", "\n"])
def test_many_blanks_are_read_in_linear_time(blank: str) -> None:
    (sentence,) = read_source(f"{blank * 300_000}It rained.", LintFormat.TEXT).sentences
    assert sentence.text == "It rained."


def test_a_comment_in_code_switches_nothing() -> None:
    text = "A.\n\n```\n<!-- parataxis: off -->\n```\n\nUse `<!-- parataxis: off -->` here.\n\nB."
    assert sentences(text, LintFormat.MARKDOWN)[-1] == "B."


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("form", [LintFormat.RST, LintFormat.ASCIIDOC, LintFormat.TEXT])
def test_places_are_right_with_any_line_end(form: LintFormat, end: str) -> None:
    text = end.join(["Ann sings", "here. Bob left.", "", "It rained."])
    source = read_source(text, form)
    assert [text[each.start : each.end] for each in source.sentences] == [
        f"Ann sings{end}here.",
        "Bob left.",
        "It rained.",
    ]


@pytest.mark.parametrize(
    ("form", "text", "expected"),
    [
        (
            LintFormat.TEXT,
            "It rained.  Ann,\nwho sings, left.",
            "It rained.  Ann\nleft. Ann sings.",
        ),
        (
            LintFormat.MARKDOWN,
            "It rained. **Ann**, who sings, left.",
            "It rained. **Ann** left. **Ann** sings.",
        ),
        (
            LintFormat.HTML,
            "<p>It rained. <b>Ann</b>, who sings, left.</p>",
            "<p>It rained. <b>Ann</b> left. <b>Ann</b> sings.</p>",
        ),
    ],
)
def test_a_rewrite_is_written_with_its_markup(form: LintFormat, text: str, expected: str) -> None:
    source = read_source(text, form)
    simple = ("Ann left.", "Ann sings.")
    sentence = source.sentences[1].text
    rewrite = Rewrite(
        source=sentence, simple=simple, splitter="mine", provenance=align(sentence, simple)
    )
    assert source.rewritten({1: rewrite}) == expected.encode()
    edit = source.writable({1: rewrite})[1]
    assert edit is not None
    (start, end), new = edit
    assert text[:start] + new + text[end:] == expected


def test_rst_is_not_written() -> None:
    source = read_source("Ann, who sings, left.", LintFormat.RST)
    rewrite = Rewrite(source="Ann, who sings, left.", simple=("Ann left.",), splitter="mine")
    assert not source.is_written
    assert source.writable({0: rewrite}) == {}
