"""The corpora of a workspace.

corpora       preview, import, list, read, rename, delete; importing: what an import writes
labels        what the training part holds, and the list that a person declared public; declarations: that it is
"""
