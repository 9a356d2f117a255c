"""Kernels on orbits, and the engines that compute them."""
