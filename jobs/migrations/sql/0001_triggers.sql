CREATE TRIGGER detiq_record_insert AFTER INSERT ON "PlatformJob"
    REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION detiq_record_insert();
CREATE TRIGGER detiq_record_update AFTER UPDATE ON "PlatformJob"
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION detiq_record_update();
CREATE TRIGGER detiq_record_delete AFTER DELETE ON "PlatformJob"
    REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION detiq_record_delete();

-- A claim and the commit of a pause or a cap exclude each other, whoever writes them. Deferred: the lock is taken at
-- the writer's commit, so that a writer who thinks for a minute does not hold up the claims.
CREATE CONSTRAINT TRIGGER detiq_gate AFTER INSERT OR UPDATE OR DELETE ON queue_pause
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION detiq_gate_changed();
CREATE CONSTRAINT TRIGGER detiq_gate AFTER INSERT OR UPDATE OR DELETE ON tenant_setting
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION detiq_gate_changed();
CREATE CONSTRAINT TRIGGER detiq_gate AFTER INSERT OR UPDATE OR DELETE ON type_setting
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION detiq_gate_changed();
CREATE CONSTRAINT TRIGGER detiq_gate AFTER INSERT OR UPDATE OR DELETE ON "SystemConfig"
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION detiq_gate_changed();

-- Append-only, for everyone.
CREATE TRIGGER detiq_append_only BEFORE UPDATE OR DELETE ON audit_entry
    FOR EACH ROW EXECUTE FUNCTION detiq_refuse_change();
CREATE TRIGGER detiq_append_only_all BEFORE TRUNCATE ON audit_entry
    FOR EACH STATEMENT EXECUTE FUNCTION detiq_refuse_change();
CREATE TRIGGER detiq_append_only BEFORE UPDATE OR DELETE ON job_history
    FOR EACH ROW EXECUTE FUNCTION detiq_refuse_change();
CREATE TRIGGER detiq_append_only_all BEFORE TRUNCATE ON job_history
    FOR EACH STATEMENT EXECUTE FUNCTION detiq_refuse_change();
