"""What the handlers that talk to web sites share: guarded connections, politeness, limits, pages, the list of what is
left."""
