"""`tocsin extract`: what else a page says, and its data as documents."""
