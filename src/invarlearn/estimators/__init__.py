"""Estimators: they validate, wire a family to a solver and expose what was fitted."""
