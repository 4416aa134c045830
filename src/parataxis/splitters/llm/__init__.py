"""The llm splitter: a language model behind any OpenAI-compatible endpoint, guarded by the checks.

Where its rewrite cannot be used, the rewrite of the pointer splitter is returned with the reason.
"""

from parataxis.splitters.llm.splitter import LlmSplitter

__all__ = ["LlmSplitter"]
