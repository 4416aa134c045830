"""The commands ``parataxis study ...``."""
