"""Between the socket and the application: gunicorn's worker as this service needs it."""
