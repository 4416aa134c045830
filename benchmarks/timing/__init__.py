"""Parts of ``benchmarks/speed.py``: sentences, systems, curves, the floor, the page."""
