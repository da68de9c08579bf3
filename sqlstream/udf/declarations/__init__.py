"""What a session knows of functions in Python: modules, signatures, types."""
