"""The pointer splitter: a small neural model that can only copy, inflect and link."""

from parataxis.splitters.pointer.splitter import PointerSplitter

__all__ = ["PointerSplitter"]
