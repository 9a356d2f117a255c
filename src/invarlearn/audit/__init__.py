"""Audits of the invariance of fitted classifiers, and the choice of a family."""

from invarlearn._utils.statistics import Proportion
from invarlearn.audit.choice import FamilyChoice, FamilyComparison, NestedCV, choose_family
from invarlearn.audit.invariance import (
    InvarianceReport,
    InvarianceScores,
    Misclassification,
    invariance_report,
)
from invarlearn.audit.worst import WorstCaseReport, worst_case_accuracy

__all__ = [
    "FamilyChoice",
    "FamilyComparison",
    "InvarianceReport",
    "InvarianceScores",
    "Misclassification",
    "NestedCV",
    "Proportion",
    "WorstCaseReport",
    "choose_family",
    "invariance_report",
    "worst_case_accuracy",
]
