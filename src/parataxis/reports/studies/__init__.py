"""The tables and figures of a study, from its rewrites and ratings."""
