"""Languages other than English: packs of rules and names as data, one registry, inflection, surrogates."""
