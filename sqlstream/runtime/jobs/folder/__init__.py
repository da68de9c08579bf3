"""What a job keeps in its folder: generations, versions, locks, and what of it is deleted."""
