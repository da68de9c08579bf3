"""Spark's JVM: how it starts, what it runs with, how it dies."""
