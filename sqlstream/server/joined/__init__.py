"""The server's end of joined shells: ``routes`` is its address, ``shell`` a session and what its shell says, ``script`` a script that runs for it."""
