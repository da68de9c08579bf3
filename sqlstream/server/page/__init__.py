"""The page of a server, for people who would rather look: HTML that is made here, and pieces of it that follow as something changes.

Its script and style sheet are made of ``web/`` of the repository, and are in ``static/``.
"""
