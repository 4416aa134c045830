"""WebSplit: read and write it, build it from WebNLG, split it by its triples, verify a split."""
