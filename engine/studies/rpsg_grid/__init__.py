"""Study `rpsg-grid`: RPSG at several sizes and temperatures."""
