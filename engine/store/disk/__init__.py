"""The workspace folder: its layout and key, opening it, files being written, locks, backups, and the ledger's head."""
