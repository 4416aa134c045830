"""The sequence-to-sequence splitters of Aharoni and Goldberg (2018), plain and copying."""

from parataxis.splitters.lstm.splitter import Attention, CopySplitter, Seq2SeqSplitter

__all__ = ["Attention", "CopySplitter", "Seq2SeqSplitter"]
