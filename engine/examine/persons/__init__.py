"""Can one person be told? Their words, style, sets of records, and details that stand together."""
