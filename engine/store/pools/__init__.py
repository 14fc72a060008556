"""Pools of text that was made elsewhere, and the prompt packs that left so that it could be made."""
