"""Jobs of every shape under kill -9: rows lost, doubled and wrong are counted."""
