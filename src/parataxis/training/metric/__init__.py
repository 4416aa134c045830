"""Fitting the learned metric to human judgements, and measuring it on systems it has not seen."""
