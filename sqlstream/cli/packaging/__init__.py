"""``sqlstream package``: a project as one file for ``spark-submit``, with the Python and the jars that it needs. What runs there is ``submitted``."""
