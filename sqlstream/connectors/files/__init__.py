"""Files in folders: read as they come, written exactly once."""
