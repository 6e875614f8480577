"""`kubectl hudi`: what is there, what waits for a person, and what is wrong."""
