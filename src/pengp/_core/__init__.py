"""Arrays, checks of arguments, seeds, linear algebra, files; nothing of Gaussian processes."""
