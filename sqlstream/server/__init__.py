"""The server: one Spark for many sessions, which are reached over HTTP, and for the jobs of a project.

``gateway`` is the REST interface of Flink's SQL gateway, ``monitoring`` that of its jobs; ``guard`` stands before both.
"""
