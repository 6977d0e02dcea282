-- Rows for the staging database
INSERT INTO customers (id, name, country) VALUES
  (1, 'Kowalski', 'PL'),
  (2, 'Meyer', 'DE'),
  (3, 'Silva', 'PT');
INSERT INTO orders (id, customer_id, total) VALUES
  (1001, 1, 39.80),
  (1002, 2, 129.00);
