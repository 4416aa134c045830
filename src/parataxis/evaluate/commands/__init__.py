"""The commands that evaluate systems and handle corpora."""
