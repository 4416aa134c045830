"""Human studies: rubrics, storage, web pages, crowd platforms, simulation and reports."""
