"""Other machines: nothing connects before the custodian's written consent.

consent            what is consented to, by whom, for which host
endpoint, endpoint_http, endpoint_addresses, endpoint_settings  OpenAI-compatible servers, several of one model too
hub                models fetched by their hub id, each file held against its digest
"""
