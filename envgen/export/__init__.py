"""Exports: Harbor folders and the Parquet manifest."""
