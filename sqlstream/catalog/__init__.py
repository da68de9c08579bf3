"""Catalogs, tables and views of a session: their names, declarations, files, and what SHOW and DESCRIBE say of them."""
