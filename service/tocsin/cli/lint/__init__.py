"""`tocsin lint`: what breaks a rule, for people and as SARIF."""
