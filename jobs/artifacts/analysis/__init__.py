"""What a document is about: its type, a summary, keywords. No secret of it is repeated."""
