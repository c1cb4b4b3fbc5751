"""The web pages: rendered on the server, one style sheet, a few lines of script that nothing depends on."""
