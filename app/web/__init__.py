"""What only the web service needs: reading uploads, negotiation, limits, problem documents, the API description."""
