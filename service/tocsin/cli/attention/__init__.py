"""`tocsin attention`: pages that could not be received, their copies, answers, and those that stay in force."""
