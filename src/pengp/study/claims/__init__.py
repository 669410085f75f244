"""The paper's claims, one module a study, and how the rows of a results file judge them."""
