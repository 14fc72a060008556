"""The review: queue, spans, decisions as events, values in bulk, the same words where nothing is marked."""
