"""The logical plan: what a statement means, as a tree of frozen nodes. No JVM."""
