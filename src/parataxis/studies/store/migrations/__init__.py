"""studies.store.migrations"""
