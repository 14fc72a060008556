"""Private text as an immutable table: readers, mapping, splits, statistics, samples."""
