"""Parataxis inside other tools: spaCy, data frames, DuckDB, Spark, Hugging Face datasets."""
