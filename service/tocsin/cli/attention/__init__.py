"""`tocsin attention`: pages that could not be received, and what is offered in their stead."""
