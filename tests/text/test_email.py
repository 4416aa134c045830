"""Header lines, quoted replies and signatures of emails are no sentences to split."""

from parataxis.text.documents import read_blocks, read_document
from parataxis.text.email import email_parts

MAIL = """From: Ann Smith <ann@example.org>
Subject: The contract, which we signed in May, and the delivery

Dear Bo,

The mill, which was built in 1811, burnt down.
Thanks for your patience, and write to me soon.

On Mon, 4 May 2026 at 09:00, Bo Jones <bo@example.org> wrote:
> The goods, which we ordered in May, have not arrived.
>
> Please write to us.

Best regards,
Ann Smith
Head of Sales, who is happy to help

--\u0020
Ann Smith, Mill Ltd., which is registered in Norway
Phone 0123 456
"""
RUNNING = [
    "Dear Bo,",
    "The mill, which was built in 1811, burnt down.",
    "Thanks for your patience, and write to me soon.",
]


def test_email_has_only_its_own_sentences() -> None:
    assert [span.text for span in read_document(MAIL).sentences] == RUNNING
    blocks = list(read_blocks(MAIL.splitlines(keepends=True)))
    assert "".join(block.text for block in blocks) == MAIL
    assert [span.text for block in blocks for span in block.sentences] == RUNNING


def test_email_comes_back_exactly() -> None:
    made = read_document(MAIL).rebuild({1: ["The mill burnt down.", "It was built in 1811."]})
    assert made == MAIL.replace(RUNNING[1], "The mill burnt down. It was built in 1811.")


def test_email_forwarded_messages_are_left_alone() -> None:
    text = "See below.\n\n-----Original Message-----\nFrom: Bo\n\nAnn, who sings, left.\n"
    assert [span.text for span in read_document(text).sentences] == ["See below."]


def test_email_ordinary_text_has_no_such_parts() -> None:
    for text in (
        "He sent his best regards, and she smiled.\nThen they left.",
        "Thanks to the rain, the fields are green.",
        "> A quotation of a book.\n\nAnn wrote: I came.",
        "Date: Monday\nThe meeting, which was long, ended.",
        "Cheers rang out. The crowd was happy.",
    ):
        assert email_parts(text) == [], text
