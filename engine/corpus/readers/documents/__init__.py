"""Readers of written documents (.docx, .pdf): their text alone, taken out in a process of its own.

`apart` starts that process and asks it; `child` is what runs in it; `docx` and `pdf` take the text out of one file.
A document comes from strangers and its libraries are large: what hangs, grows or crashes there does so in a process
with limits on time and memory, and costs the import one sentence.
"""
