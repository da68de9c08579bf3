"""What can be known of a running job: its figures, and why it gives no rows."""
