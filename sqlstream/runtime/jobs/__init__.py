"""Jobs: what INSERT and statement sets submit. In: sinks of a checked plan. Out: running Spark queries, and their state on disk.

A job's folder is ``.sqlstream/jobs/<name>/``: the same statements find it again, so a restart continues where it stopped. In it is one
folder a generation (``1``, ``2``, ...), a lineage of checkpoints: a job that has finished (bounded input) starts a new one when it is
submitted again, and so does a changed statement, so nothing that identifies writes (Delta's transaction ids are the checkpoint's own) is used
twice. A generation holds ``version.json`` (what it runs; it is written last, and without it nothing was begun), ``checkpoint/<sink>``, ``control``
(see runtime/lower/lowering), ``draining`` from the moment on at which it is to be drained, and ``finished`` when it is done. A lock file keeps a
second process out.
"""
