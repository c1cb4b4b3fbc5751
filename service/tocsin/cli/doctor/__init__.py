"""`tocsin doctor`: what is wrong with an installation, and the mend."""
