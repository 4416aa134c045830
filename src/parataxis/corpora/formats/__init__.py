"""The corpus formats that come with Parataxis, each registered in ``parataxis.corpora``."""
