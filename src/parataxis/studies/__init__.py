"""Human studies: what people are asked about rewrites, and what their answers say."""
