"""Diagnostics that expose a splitter which cheats: those of Aharoni and Goldberg (2018)."""
