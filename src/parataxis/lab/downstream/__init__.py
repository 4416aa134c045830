"""What splitting does to the programs that read the text next: parsers and triple extractors."""
