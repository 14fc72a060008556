"""Pools: texts made elsewhere, read from model services' answers or from any table, and made ready to be chosen from.

Nothing here reads a private record. Every rule is public and looks at the pool alone.
"""
