"""The analyser (tags, dependency tree, semantic roles) and the seven patterns."""
