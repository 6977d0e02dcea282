-- One tenant's setting; none: all by default.
SELECT tenant_id AS name, cap, unlimited, weight, note, ends_at, previous_cap, previous_unlimited, version,
       updated_at, updated_by, ends_at > clock_timestamp() AS lasts
  FROM tenant_setting
 WHERE tenant_id = %(name)s
