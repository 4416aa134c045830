"""The splitters ``source``, ``rules``, ``pointer`` and ``llm``, their protocol and registry."""
