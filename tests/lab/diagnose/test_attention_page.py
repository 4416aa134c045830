"""The page and the picture of attention."""

import re

import numpy as np
import pytest

from parataxis.lab.diagnose.attention import Looked, attention_page
from parataxis.report import Report, ReportParagraph
from parataxis.splitters.registry import Attention

ATTENTION = Attention(
    ("Ann", "<b>", "left"),
    ("Ann", "<split>", "left"),
    np.array([[0.75, 0.25, 0.0], [0.0, 1.0, 0.0], [0.5, 0.0, 0.5]], dtype=np.float32),
)


def test_attention_page_carries_the_weights() -> None:
    looked = Looked("COMPLEX-1", ATTENTION, (0, 1), "A note.")
    page = attention_page(Report("What x looks at", [ReportParagraph("All.")]), [looked])
    weights = re.findall(r'<td data-w="([\d.]+)"', page)
    assert [float(weight) for weight in weights] == ATTENTION.weights.ravel().tolist()
    assert "<b>" not in page
    assert page.count('<li class="words">') == 2
    assert page.count('tabindex="0"') == 2  # one way into the source, one into the output
    assert '<span class="entity" data-place="0" tabindex="0">Ann</span>' in page
    assert "A note." in page
    assert "http" not in page.replace("http-equiv", "")


def test_heatmap_is_a_picture() -> None:
    pytest.importorskip("matplotlib", reason="needs the extra [metrics]")
    from parataxis.lab.diagnose.attention import heatmap_png

    png = heatmap_png(ATTENTION, (0, 1))
    assert png.startswith(b"\x89PNG")
    assert png == heatmap_png(ATTENTION, (0, 1))
    assert png != heatmap_png(ATTENTION)
