"""`tocsin doctor`: a file for each part of the installation that is looked at."""
