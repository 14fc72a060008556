"""Who may do what where several people sign in: roles, who holds them, signatures, and the guard of each call.

`roles` says what a role may do; `members` keeps who holds which; `calls` names the right that each call of a
workspace needs, and `guarded` asks for it; `signatures` keeps who signed what. A workspace that is opened without a
person (the command line, the one account of this machine) asks for none of it: whoever may read the folder may read
the text, whatever a page says.
"""
