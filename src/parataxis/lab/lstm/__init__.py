"""Training of the sequence-to-sequence splitters, plain and copying."""
