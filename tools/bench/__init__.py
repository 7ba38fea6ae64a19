"""How quick and how hungry networks are on the machine at hand."""
