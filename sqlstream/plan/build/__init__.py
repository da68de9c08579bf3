"""From the parsed statement to a tree of nodes: names resolved, a module a clause."""
