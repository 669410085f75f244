"""The study of methods: every way to fit that pengp has, and other packages, on the same runs."""
