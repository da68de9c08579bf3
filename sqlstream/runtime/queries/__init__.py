"""Running queries: the rows of a SELECT, and a query as it is watched."""
