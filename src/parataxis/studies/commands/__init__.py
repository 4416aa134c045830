"""``parataxis study``: let people write and rate rewrites, and make the tables of the papers."""
