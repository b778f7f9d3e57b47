"""Checks of data and runs, each with its figure."""
