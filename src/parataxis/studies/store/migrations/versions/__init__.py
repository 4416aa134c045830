"""studies.store.migrations.versions"""
