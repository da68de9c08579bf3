"""What is known of a running job: its figures, and why it emits no rows."""
