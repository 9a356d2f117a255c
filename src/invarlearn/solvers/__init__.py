"""Solvers: numbers in, numbers out; estimators put them to use."""
