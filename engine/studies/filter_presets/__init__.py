"""Study `filter-presets`: the configurations of the three-stage filter on records with planted values."""
