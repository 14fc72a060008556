"""Signing in, where several people use one workspace: off unless the start says otherwise.

`settings` is what the start chose and what the door asks of each request; `visitor` turns who signed in into a
workspace that asks for their rights; `screens` says what is missing; `people` is the list of roles on the Settings
page. Without it the door admits one person, as before.
"""
