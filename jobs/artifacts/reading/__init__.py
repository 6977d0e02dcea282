"""From bytes to a document that can be looked at: what kind of file it is, its text, its tables, its data."""
