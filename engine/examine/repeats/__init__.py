"""Is text repeated? Windows of eight words, near copies, longest runs, whole originals, closeness in meaning."""
