"""The state in a savepoint: what its operators keep as columns, and the connector that reads them."""
