"""Corpora as a whole: what their tasks say, what they share with others and with each other."""
