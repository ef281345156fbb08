"""Archives of settled periods: Parquet files in a directory or in an object store.

`format` says what is in the files, `writing` and `reading` do that, `blocks` keeps what was read,
`files` is the store itself. `index` answers every read of a ladder from them, and `store` is what
the services know.
"""
