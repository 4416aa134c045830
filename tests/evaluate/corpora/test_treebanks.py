"""Treebanks: words with their places, the enhanced graph, frames, and what is wrong with a file."""

import gzip
import json
from pathlib import Path

import pytest

from parataxis.errors import InputError
from parataxis.evaluate.corpora.treebanks import Arc, read_treebank

BLOCK = """\
# newdoc id = d1
# sent_id = s1
# text = Ann can't sing and dance.
1	Ann	Ann	PROPN	NNP	Number=Sing	4	nsubj	4:nsubj|6:nsubj	_
2-3	can't	_	_	_	_	_	_	_	_
2	ca	can	AUX	MD	VerbForm=Fin	4	aux	4:aux	_
3	n't	not	PART	RB	Polarity=Neg	4	advmod	4:advmod	_
4	sing	sing	VERB	VB	VerbForm=Inf	0	root	0:root	_
5	and	and	CCONJ	CC	_	6	cc	6:cc	_
6	dance	dance	VERB	VB	VerbForm=Inf	4	conj	4:conj:and	_
6.1	sing	sing	VERB	VB	_	_	_	4:conj	_
7	.	.	PUNCT	.	_	4	punct	4:punct	_
"""
FRAMES = {
    "sent_id": "s1",
    "tokens": ["Ann", "ca", "n't", "sing", "and", "dance", "."],
    "frames": [{"predicate": 3, "roleset": "sing.01", "arguments": [[0, 0, "ARG0"]]}],
}


@pytest.mark.parametrize("end", ["\n", ""])
def test_treebanks_are_read_with_graphs_and_frames(tmp_path: Path, end: str) -> None:
    with gzip.open(tmp_path / "a.conllu.gz", "wt", encoding="utf-8") as out:
        out.write(BLOCK + end)
    (tmp_path / "a.jsonl").write_text(json.dumps(FRAMES) + "\n")
    (sentence,) = read_treebank(tmp_path / "a.conllu.gz", tmp_path / "a.jsonl")
    text = sentence.analysis.text
    words = sentence.analysis.words
    assert [text[word.start : word.end] for word in words] == FRAMES["tokens"]
    assert [word.head for word in words] == [3, 3, 3, -1, 5, 3, 3]
    assert words[2].feats == {}  # polarity is not kept
    assert Arc(5, 0, "nsubj") in sentence.enhanced
    assert len(sentence.enhanced) == 7  # neither the root nor the node of a word left out
    assert (sentence.document, sentence.starts_paragraph, sentence.has_roles) == ("d1", True, True)
    assert sentence.analysis.frames[0].arguments[0].label == "ARG0"


def test_treebanks_need_neither_graph_nor_frames(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text("# text = Go\n1\tGo\tgo\tVERB\tVB\t_\t0\troot\t_\t_\n")
    (sentence,) = read_treebank(tmp_path / "a.conllu")
    assert (sentence.enhanced, sentence.has_roles) == ((), False)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("# text = Go\n1\tGo\tgo\n", "line 2: a line of CoNLL-U has 10 columns, not 3"),
        ("1\tGo\t_\t_\t_\t_\t0\troot\t_\t_\n", 'the sentence "Go ..." has no line "# text"'),
    ],
)
def test_treebanks_say_what_is_wrong(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "a.conllu").write_text(text)
    with pytest.raises(InputError, match=complaint):
        list(read_treebank(tmp_path / "a.conllu"))
    (tmp_path / "a.jsonl").write_text("[]\n")
    with pytest.raises(InputError, match="line 1: this is no record of frames"):
        list(read_treebank(tmp_path / "a.conllu", tmp_path / "a.jsonl"))
