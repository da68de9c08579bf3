"""Plans as DataFrames: a module a kind of node."""
