"""One pipeline: any input, units, a splitter, an encoder, any output.

1. ``files`` finds the inputs (text, standard input, files, folders, addresses) as ``DataFile``s.
2. ``reading`` cuts them into batches of ``units``: sentences with what surrounds them. A block of
   text, a line, a record of JSON lines or a row of a table (``tables``) is a unit. What cannot be
   read is a unit with a problem, so one error policy holds for all formats.
3. ``work`` is the one task: it rewrites the sentences of a batch and encodes the results.
4. ``encode`` makes bytes of them, in any output format; ``rows`` joins the sentences of a cell.
5. An engine does the work: this process or several (``pool``), with a GPU (``gpu``), or a Ray
   cluster (``cluster``). ``pipeline`` feeds it and writes what comes back, in order.
6. The output is a stream, or files that can be resumed (``output``, ``checkpoint``).

``commands`` has the options of ``parataxis split``, ``split`` plans the run that they ask for, and
``documents`` splits files with formatting.
"""
