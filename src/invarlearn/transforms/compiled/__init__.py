"""Compiled loops of the families. Import them inside functions: numba is slow to import."""
