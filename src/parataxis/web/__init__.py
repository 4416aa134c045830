"""What people see in a browser and programs ask for. Needs the extra ``[study]`` or ``[serve]``."""
