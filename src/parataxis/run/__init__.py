"""One pipeline: any input, units, a splitter, an encoder, any output.

1. ``files`` finds the inputs (text, standard input, files, folders, addresses) as ``DataFile``s.
2. ``reading`` cuts them into batches of ``units``: sentences with what surrounds them. A block of
   text, a line, a record of JSON lines or a row of a table (``tables``) is a unit. What cannot be
   read is a unit with a problem, so one error policy holds for all formats.
3. ``pipeline`` has the work on a batch: rewrite its sentences, and encode the results (``encode``).
   An engine does it in this process or several (``pool``), with a GPU (``gpu``), or on a Ray
   cluster (``cluster``).
4. The output is a stream, or files that can be resumed (``output``).

``commands`` has the options of ``parataxis split`` and plans the run that they ask for;
``documents`` splits files with formatting.
"""
