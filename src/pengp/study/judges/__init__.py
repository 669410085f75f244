"""How the rows of a results file judge the paper's claims, one module for each of claims."""
