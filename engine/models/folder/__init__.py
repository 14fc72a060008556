"""Models in a folder on this machine, by transformers: safetensors only, no code of theirs is run.

inspection  what lies in a folder, and why one is refused; imports: into the workspace and out of it
hidden_states  states of layers, read and moved
transformers_local  writes and scores; logits, logits_local: next-token logits for private prediction
"""
