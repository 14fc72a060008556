"""The web process' door: who may come in, and what must be settled before anybody does.

    start                   options, token, nothing looked up outside, no upload on the disk
    door, door_page         who may come in; what a visitor sees who may not
    addresses, peer         at which addresses the server may be asked; who opened a connection
    headers                 security headers of every answer
    unlock                  what stands in place of every page while the workspace is locked

Signing in is in `pages._ui.sign_in`. One more thing to check of a request: in `door`.
"""
