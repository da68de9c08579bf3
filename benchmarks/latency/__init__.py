"""How long a record takes from its creation to the reader of what a query makes of it, side by side with Flink."""
