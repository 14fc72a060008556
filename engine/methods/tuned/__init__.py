"""Networks fitted to the records: without protection, leaving tokens out of the loss, and with noise (DP-SGD)."""
