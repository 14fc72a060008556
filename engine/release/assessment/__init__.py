"""Assessment files for a data-protection officer: what is asked of a release, what answers it, what was not tested.

Privacy posture: the internal edition quotes measured values and stays inside. The external edition is made from public
facts and typed words alone.
"""

from engine.release.assessment.document import Edition, Facts, document
from engine.release.assessment.questions import LONGEST_ANSWER, Asked, Field, Question, Questions, checked, questions

__all__ = [
    "LONGEST_ANSWER",
    "Asked",
    "Edition",
    "Facts",
    "Field",
    "Question",
    "Questions",
    "checked",
    "document",
    "questions",
]
