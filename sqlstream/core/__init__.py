"""The base of all packages: errors, options, settings, secrets, the project's folder."""
