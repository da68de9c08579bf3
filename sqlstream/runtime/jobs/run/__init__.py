"""A job as it runs: its streams and batches, its end, and again after a failure."""
