"""Parataxis over many and huge files: streams, checkpoints, processes, a GPU, a cluster."""
