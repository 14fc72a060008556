"""Other machines: nothing connects before the custodian's written consent.

consent            what is consented to, by whom, for which host
endpoint, endpoint_http, endpoint_addresses, endpoint_settings  OpenAI-compatible servers, several of one model too
endpoint_forms, endpoint_probe  how servers are held to given answers and kept from tokens, and whether one really is
hub                models fetched by their hub id, each file held against its digest
"""
