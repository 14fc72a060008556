"""Finding, judging and replacing what identifies people."""
