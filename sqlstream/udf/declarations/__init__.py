"""What a session knows about functions in Python: modules, signatures, types."""
