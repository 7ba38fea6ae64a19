"""The model workshop and the measuring tools. Nothing in app/ imports from here."""
