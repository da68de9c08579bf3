"""A connector, a format and a type of catalogs for sqlstream."""
