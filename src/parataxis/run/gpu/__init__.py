"""The shipped models on a GPU, by torch: the same weights and whole numbers, in large batches."""
