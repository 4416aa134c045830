"""Parataxis inside other tools: spaCy, pandas, Hugging Face datasets."""
