"""The description of the API as OpenAPI 3.1: built from the options, the error tree and the styles at hand.

It is served as /openapi.json and drawn by /docs, so each fact in it has its home elsewhere in the code.
"""
