"""The service: an API that splits, checks and analyses, the page that uses it, and its client."""
