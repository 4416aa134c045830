"""``parataxis study``: let people write and rate rewrites, and make the tables of the papers."""

from parataxis.cli.group import make_group
from parataxis.cli.study_budget import budget
from parataxis.cli.study_platforms import from_platform, to_platform
from parataxis.cli.study_report import report
from parataxis.cli.study_rubrics import rubrics

__all__ = ["study"]

study = make_group(
    "study",
    (rubrics, budget, to_platform, from_platform, report),
    summary="Let people write and rate rewrites, and make the tables of the papers.",
)
