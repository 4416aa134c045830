"""Modules of the page by themselves: what must always hold, tried with many made-up values."""

import base64
import io
import random
import zipfile
from collections.abc import Callable
from typing import Any

from lxml import etree

ALPHABET = "aé漢😀🌧 .,\n'-1Z\u200d"


def _texts(seed: int, number: int = 150) -> list[str]:
    dice = random.Random(seed)
    return ["".join(dice.choices(ALPHABET, k=dice.randrange(1, 30))) for _ in range(number)]


def _run(page: Any, name: str, code: str, value: Any = None) -> Any:
    """Call a function of a module of the page."""
    return page.evaluate(
        f"async (value) => {{ const module = await import('./static/{name}.js'); {code} }}", value
    )


def test_modules_count_characters_as_python_does(writer: Callable[..., Any]) -> None:
    dice = random.Random(1)
    cases = []
    for text in _texts(1):
        start, end = sorted(dice.choices(range(len(text) + 1), k=2))
        cases.append([text, start, end])
    found = _run(
        writer().page,
        "points",
        "return value.map(([text, start, end]) => {"
        " const place = module.placesIn(text); return text.slice(place(start), place(end)); });",
        cases,
    )
    assert found == [text[start:end] for text, start, end in cases]


def test_modules_pieces_give_back_the_sentences(writer: Callable[..., Any]) -> None:
    dice = random.Random(2)
    rewrites = []
    for source, simple in zip(_texts(3), _texts(4), strict=True):
        tokens = []
        for _ in range(dice.randrange(6)):  # they may overlap, and stand in any order
            start, end = sorted(dice.choices(range(len(simple) + 1), k=2))
            place = sorted(dice.choices(range(len(source) + 1), k=2))
            origin = dice.choice(["copied", "inflected", "inserted"])
            span = None if origin == "inserted" else place
            tokens.append(
                {"text": "", "start": start, "end": end, "origin": origin, "source": span}
            )
        rewrites.append({"source": source, "simple": [simple], "provenance": [tokens]})
    found = _run(
        writer().page,
        "pieces",
        "const join = (pieces) => pieces.map((piece) => piece.text).join('');"
        " return value.map((rewrite) => ["
        " join(module.sourcePieces(rewrite)), join(module.simplePieces(rewrite, 0))]);",
        rewrites,
    )
    assert found == [[each["source"], each["simple"][0]] for each in rewrites]


def test_modules_every_step_can_be_undone_and_redone(writer: Callable[..., Any]) -> None:
    found = _run(
        writer().page,
        "state",
        """
        let seed = 7;
        const dice = (sides) => (seed = (seed * 48271) % 2147483647) % sides;
        const session = new module.Session({ text: "a. ".repeat(20), name: "", splitter: "" });
        session.rest();
        const made = (simple) => (
            { rewrite: { source: "a.", simple }, patterns: [], splits: [],
              words: simple.map(() => 1), sourceWords: 1, nested: false, by: "hand" });
        session.add(Array.from({ length: 20 }, (_, index) => ({
            index, start: 3 * index, end: 3 * index + 2,
            ...made(index % 3 ? ["b.", "c."] : ["a."]),
        })));
        const look = () => JSON.stringify([session.rows, session.tally, session.result()]);
        const seen = [look()];
        for (let step = 0; step < 200; step += 1) {
            const changes = new Map(Array.from({ length: 1 + dice(3) }, () => [
                session.rows[dice(20)],
                dice(2) ? { decision: [null, "accepted", "rejected"][dice(3)] }
                    : { now: made([`${step}.`, `d${step}.`].slice(dice(2))) },
            ]));
            session.change([...changes]);
            if (look() !== seen.at(-1)) seen.push(look());
        }
        const back = [look()];
        while (session.canUndo) { session.undo(); back.push(look()); }
        const again = [look()];
        while (session.canRedo) { session.redo(); again.push(look()); }
        return [seen, back.reverse(), again];
        """,
    )
    seen, back, again = found
    assert len(seen) > 100
    assert seen == back == again


def test_modules_word_files_are_sound(writer: Callable[..., Any]) -> None:
    texts = [*_texts(5, 20), "a\x00b\x0bc\ufffe & <w:t>"]
    found = _run(
        writer().page,
        "docx",
        "const bytes = new Uint8Array(await module.makeDocx(value).arrayBuffer());"
        " return btoa(String.fromCharCode(...bytes));",
        texts,
    )
    archive = zipfile.ZipFile(io.BytesIO(base64.b64decode(found)))
    assert archive.testzip() is None
    document = etree.fromstring(archive.read("word/document.xml"))
    said = [each.text for each in document.iter("{*}t")]
    assert said == [*texts[:-1], "abc & <w:t>"]
