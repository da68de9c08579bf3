"""What a job of very many micro-batches leaves behind, and whether that and its memory stay flat."""
