"""Corpora for others: data sets that can be loaded and checked anywhere."""
