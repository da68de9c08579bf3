"""Functions of the user's beside the same functions written by hand in PySpark."""
