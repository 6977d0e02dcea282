"""Django's PostgreSQL, whose connections read any time that the tables hold."""
