"""Evaluation: corpora, metrics, comparison of systems, correlation with human judgements."""
