"""Use cases, written once above the ports: every profile serves them alike."""
