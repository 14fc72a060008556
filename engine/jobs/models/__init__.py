"""The models of a workspace.

language_models  what is here, imports, endpoints, consents, self-tests; catalogued: where they lie
hub              fetching one by its hub id; built_in: what ships, and whether its files are whole
prompts          templates in use; marks: what models saw, counted with every claim made with them
cache            what the worker has loaded
"""
