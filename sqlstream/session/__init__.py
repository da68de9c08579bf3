"""A session: each statement through every stage, and what it answers."""
