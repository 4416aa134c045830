"""The sequence-to-sequence splitters of Aharoni and Goldberg (2018), plain and copying."""

from parataxis.splitters.lstm.splitter import CopySplitter, Seq2SeqSplitter

__all__ = ["CopySplitter", "Seq2SeqSplitter"]
