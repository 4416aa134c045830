"""Training the verifier, and its teacher: a language model that scores and writes rewrites."""
