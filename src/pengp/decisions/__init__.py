"""From a surrogate to decisions: which inputs matter, what comes out."""
