"""The command line: ``sqlstream`` and what it runs beside the shell."""
