"""How invariant a fitted model is, and which invariances help."""

from invarlearn._shares import Share
from invarlearn.audit.choice import Evidence, FamilyChoice, choose_family
from invarlearn.audit.invariance import Flip, InvarianceReport, Stability, invariance_report
from invarlearn.audit.worst import WorstCase, worst_case_accuracy

__all__ = [
    "Evidence",
    "FamilyChoice",
    "Flip",
    "InvarianceReport",
    "Share",
    "Stability",
    "WorstCase",
    "choose_family",
    "invariance_report",
    "worst_case_accuracy",
]
