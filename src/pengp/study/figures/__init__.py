"""The paper's figures, drawn from the rows of a results file."""
