"""Files that tenants upload: where they are kept, how they are read, what they are. Changes no job.

`reading` and `analysis` know neither Django nor the database: they run in a process of their own (`child.py`), because
what is read was made by anybody.
"""
