"""What the user sees: the prompt, the runner of scripts, and the text of every answer."""
