"""What ``benchmarks/speed.py`` is made of: sentences, systems, curves, a floor, a page."""
