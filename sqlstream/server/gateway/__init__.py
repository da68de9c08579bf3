"""Flink's SQL gateway, REST versions 1 to 4: what Flink's SQL client, its JDBC driver and dbt speak.

``routes`` are its addresses, ``sessions`` and ``operations`` what they are about, ``wire`` how results are written.
"""
