"""Training the ranker: a small encoder imitates what a language model thinks of rewrites."""
