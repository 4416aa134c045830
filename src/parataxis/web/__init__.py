"""What people see in a browser. Needs the extra ``[study]``."""
