"""Estimators, which validate data, call solvers and set fitted attributes."""
