"""A connector and a format for sqlstream."""
