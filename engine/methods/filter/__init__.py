"""The three-stage filter (Mohammed 2025): before, in and after generation; `filter:METHOD` puts it around another."""
