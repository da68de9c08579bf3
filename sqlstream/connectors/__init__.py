"""Connectors: what a table's rows are read from and written to. One module each; CONNECTORS lists them all."""
