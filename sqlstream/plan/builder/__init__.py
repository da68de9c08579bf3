"""From the parsed statement to a tree of plain nodes, as it is written, with names resolved: a module for each clause."""
