"""What a server costs: requests a second, and what days of sessions, statements and jobs leave behind."""
