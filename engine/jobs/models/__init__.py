"""The models of a workspace.

language_models  what is here, imports, endpoints, consents, self-tests; catalogued: where they lie
first_texts      five texts for a corpus' public description
hub              what suits this machine, and fetching it by its hub id
built_in         what ships, and whether its files are whole
prompts          templates in use; marks: what models saw, counted with every claim made with them
cache            what the worker has loaded
"""
