"""What everything stands on: errors, options, settings, secrets, the project's folder."""
