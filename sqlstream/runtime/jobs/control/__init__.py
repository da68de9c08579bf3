"""What is asked of a job, by whatever process, and what is known of all of them."""
