-- The open events that say the same: of them one runs. By a digest, because all three may be long.
CREATE INDEX ledger_open ON document_lifecycle_events (md5(document_id || '/' || hook_type || '/' || payload_json), created_at)
    WHERE status IN ('pending', 'running');
-- What waits of one document, in order: after its commit it alone is looked at, however much else waits.
CREATE INDEX ledger_document_pending ON document_lifecycle_events (document_id, created_at, id) WHERE status = 'pending';
-- The failed, the tried and the done, newest change first.
CREATE INDEX ledger_failed_at ON document_lifecycle_events (updated_at DESC, id DESC) WHERE status = 'failed';
CREATE INDEX ledger_tried ON document_lifecycle_events (updated_at DESC, id DESC) WHERE status = 'pending' AND attempts > 0;
CREATE INDEX ledger_succeeded ON document_lifecycle_events (updated_at DESC, id DESC) WHERE status = 'succeeded';
