"""What a streaming query's author should know before it runs: rules over syntax, declarations and plans. No JVM.

rules/*.py   a rule each: a function from a Subject to what it found
registry.py  RULES: the rules by code
scripts.py   a script's findings, its errors among them; ``-- noqa: CODE`` leaves one out
"""
