"""The auditor: eight labels, each proven by something that was executed, or only suspected."""
