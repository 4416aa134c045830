"""Parataxis inside other tools: spaCy, data frames, DuckDB, Spark, datasets, LangChain, LlamaIndex,
Haystack, FActScore, Ragas, and the Model Context Protocol."""
