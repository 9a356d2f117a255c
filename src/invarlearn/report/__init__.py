"""Reports: self-contained pages of HTML, made from the templates in ``report/templates``."""

from invarlearn.report.page import Page

__all__ = ["Page"]
