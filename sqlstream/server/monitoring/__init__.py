"""Flink's monitoring REST interface, as far as ``flink list``, ``stop``, ``cancel`` and ``savepoint``, and those who look at jobs, ask for it.

``routes`` are its addresses, ``jobs`` what is said of each job, ``triggers`` the savepoints that are being made.
"""
