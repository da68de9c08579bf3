"""The catalog of type ``iceberg``: the tables of one of Iceberg's catalogs."""
