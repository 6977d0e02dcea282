-- One event's payload, whole.
SELECT payload_json FROM document_lifecycle_events WHERE id = %(id)s
