"""The llm splitter: a language model behind any OpenAI-compatible endpoint, guarded by the checks.

Whatever the model writes is checked like every other rewrite; where it cannot be taken, the pointer
splitter's rewrite is returned instead, with the reason.
"""

from parataxis.splitters.llm.splitter import LlmSplitter

__all__ = ["LlmSplitter"]
