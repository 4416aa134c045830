"""The verifier as a metric: how likely a careful reader finds no fault in a rewrite."""

from parataxis.checks.checker import Verifying
from parataxis.checks.verifier import is_verifiable, load_verifier
from parataxis.evaluate.metrics.protocol import RatioMetric, ScoredItem, Signature
from parataxis.syntax.onnx import weights_named


class Verified(RatioMetric):
    """The mean probability, in percent, that a careful reader finds no fault in a rewrite, as the
    verifier estimates it. Rewrites that are too long for it do not count."""

    name = "verified"
    summary = "percent chance that a reader finds no fault, by the verifier"
    percent = True

    def __init__(self, verifying: Verifying | None = None) -> None:
        self._given = verifying

    @property
    def signature(self) -> Signature:
        by = f"parataxis-{weights_named('verifier').replace(' ', '-')}"
        return Signature(self.name, {"by": by, "fault": "worst sentence"})

    def counts(self, item: ScoredItem) -> tuple[float, float]:
        item = item.plain
        if not item.simple or not is_verifiable(item.source, item.simple):
            return 0.0, 0.0
        verifying = self._given or load_verifier()
        return 1.0 - verifying(item.source, [item.simple])[0].risk, 1.0
