"""``parataxis study``: let people write and rate rewrites, and make the tables of the papers."""

from parataxis.cli.group import make_group
from parataxis.cli.study_budget import budget
from parataxis.cli.study_create import create, password
from parataxis.cli.study_export import export
from parataxis.cli.study_invite import invite
from parataxis.cli.study_platforms import from_platform, to_platform
from parataxis.cli.study_report import report
from parataxis.cli.study_rubrics import rubrics
from parataxis.cli.study_sample import sample
from parataxis.cli.study_serve import serve
from parataxis.cli.study_simulate import simulate

__all__ = ["study"]

study = make_group(
    "study",
    (
        rubrics,
        budget,
        create,
        password,
        serve,
        invite,
        export,
        simulate,
        to_platform,
        from_platform,
        sample,
        report,
    ),
    summary="Let people write and rate rewrites, and make the tables of the papers.",
)
