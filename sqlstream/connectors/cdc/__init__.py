"""Change data capture: the rows of a database's table, and then each change of them."""
