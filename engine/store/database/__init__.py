"""The database of a workspace, SQLite or PostgreSQL: its tables, and how it is opened, read and written.

    schema/               the tables, a file a noun
    database              connections, transactions and clear errors
    dialect, postgresql   what the two say in different words; what only PostgreSQL says
    migrations            one function a version, in order, inside one transaction

May import where a workspace lies and how it is encrypted, of `engine.store.disk`, and `engine.at_rest` and below. One
more table: its lines in the file of its noun in `schema` and a migration in `migrations`.
"""
