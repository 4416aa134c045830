"""The routes of the API, by resource."""
