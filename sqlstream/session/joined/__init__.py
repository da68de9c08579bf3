"""The session of a shell that a server has: ``session`` is the shell's end of a websocket, ``wire`` what goes over it, ``place`` where it leads to.

The server's end is ``sqlstream/server/joined``. Each message is a JSON object. The shell's say ``do``: ``open`` first, then ``run`` a script, whose
outcomes and rows come one piece after the other as it says ``next``, so that what nobody reads waits at the server. Beside that there are
``interrupt`` and ``stop``, and questions that are answered at once: ``suggest``, ``standing``, ``again``, ``reasons``, ``set``; the editor of the
server's page asks for ``findings``, the ``statement`` at a place, ``verdicts`` on jobs, and ``help``, and has a query ``save``d. The server's
messages have the ``id`` of the message that they answer, 0 where it says something by itself. The session ends with the connection, its jobs go on.
"""

PATH = "/shell"
"""The address of the server's end."""
SILENT_SECONDS = 60
"""An end that has not answered for so long has gone."""
PROTOCOL = 2
"""The version of what is said. Both ends have to have the same."""
