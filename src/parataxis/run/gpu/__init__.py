"""The shipped models on a GPU, run by torch in large batches with the same quantised weights."""
