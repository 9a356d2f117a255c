"""Generic helpers: validation, parallel work, repr, progress, files, statistics, groups.

These modules import no other package of invarlearn.
"""
