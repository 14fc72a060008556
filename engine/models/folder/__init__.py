"""Models in a folder on this machine, by transformers: safetensors only, no code of theirs is run.

inspection  what lies in a folder, and why one is refused; imports: into the workspace and out of it
prompting   how prompts become tokens; vllm_local: writing with vLLM where it is installed
precision   weights in 8 or 4 bit, where a library for it is installed
hidden_states  states of layers, read and moved
transformers_local  writes and scores; logits, logits_local: next-token logits for private prediction
"""
