"""How invariant a fitted model is."""

from invarlearn.audit.worst import WorstCase, worst_case_accuracy

__all__ = ["WorstCase", "worst_case_accuracy"]
