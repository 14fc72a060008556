"""Policy, gate, approval, bundle and data card."""
