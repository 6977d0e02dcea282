"""The document ledger: hooks that must run after a document is saved, written in the document's own transaction.

`outbox` is its door, `hooks` says what each hook type does, `processor` drains.
"""
