-- A hook that is to run: in the transaction of the document it belongs to.
INSERT INTO document_lifecycle_events (id, company_id, document_id, hook_type, payload_json)
VALUES (%(id)s, %(company_id)s, %(document_id)s, %(hook_type)s, %(payload)s)
