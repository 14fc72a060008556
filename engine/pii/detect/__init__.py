"""From text to spans.

detector   everything loaded once for one set of settings; settings, presets: what the custodian chooses
records    many records: batches, and the processes that share them
rules, recognisers  Presidio over the catalogue in `assets/recognisers/`; known: the custodian's own identifiers
overlap, whole_names, kinds  one list without overlap, names whole or not at all, of the right kind
plain/     what looks like a name and names nobody
unknown    what looks like an identifier though no detector says so
"""
