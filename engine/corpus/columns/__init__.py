"""From a file's columns to what a record needs.

    mapping              which column plays which part, and a first guess at it
    columns, cells       the mapped columns read and checked; one cell of any format as text
    together             several columns, or the rows of one person in order, as one text
    gold                 spans that came with the records
    preview, proposals   what the Load page shows before anything is imported, and what may be proposed from it

May import what stands beside it, and `engine.at_rest` and below. One more part for a column to play: a field of
`mapping.ColumnMapping`, read in `columns`.
"""
