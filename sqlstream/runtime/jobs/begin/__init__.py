"""How a job begins: what is decided, and what carries it out."""
