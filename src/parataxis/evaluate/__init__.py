"""The tables and figures of the papers, and reports that compare systems."""
