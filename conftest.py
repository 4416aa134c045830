"""What pytest leaves out where an extra is not installed: modules that cannot be imported then."""

from importlib.util import find_spec

NEEDED = {
    "sqlalchemy": [
        "src/parataxis/studies/store",
        "src/parataxis/studies/simulation",
        "src/parataxis/web/studies",
        "tests/studies/store",
    ],
    "spacy": ["src/parataxis/integrations/spacy.py", "tests/integrations/test_spacy.py"],
    "fastapi": ["src/parataxis/web"],
    "prometheus_client": ["src/parataxis/web/service"],
    "docx": ["tests/documents/test_docx.py", "tests/cli/test_document_files.py"],
}

collect_ignore = [
    path for package, paths in NEEDED.items() if find_spec(package) is None for path in paths
]
