SELECT *
  FROM detiq_lane_gates(%(types)s::text[], %(tenants)s::text[], %(projects)s::text[], %(tenant_cap)s, %(type_caps)s::jsonb)
 ORDER BY lane
