"""The review: queue, spans, decisions as events, values in bulk, the same words where nothing is marked.

    review              queue of records, a record's spans, decisions, values; queries, search, memory: what it asks
    acts, before, bulk  what a person does, what undo gives back, many findings at once
    decisions, spans    appended events, and the rows they are about
    chained, marks, held   both under the audit log: digests of events, a sum of all marks, what does not hold
    values, unmarked, named   one row a distinct value; names left unmarked; who is named in several units' records
    desk/               what a browser decided while it was ahead of the server
    spot/               random samples of records to read to the end

May import the rest of `engine.store` but runs and releases, and `engine.release` and below. One more act: a function in
`acts`, its undo in `before`.
"""
