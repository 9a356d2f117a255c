"""Reports that people look at: one page of HTML that needs nothing else."""

from invarlearn.report.page import Page

__all__ = ["Page"]
