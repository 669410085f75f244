"""What the documentation needs beside Sphinx: pages of the reference, formulas as MathML."""
