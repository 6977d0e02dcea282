"""The tests' own promise: each transactional test finds what the migrations left."""

import psycopg
import pytest
from django.contrib.auth.models import Group

from tests.database import reset_database


def test_connections_see_each_other_and_are_no_superuser(conn, make_conn):
    conn.execute("INSERT INTO auth_group (name) VALUES ('seen')")
    other = make_conn()
    assert other.execute("SELECT name FROM auth_group WHERE name = 'seen'").fetchone() == ("seen",)
    assert other.execute("SHOW is_superuser").fetchone() == ("off",)
    assert other.execute("SHOW timezone").fetchone() == ("UTC",)


def test_reset_empties_tables_that_refuse_truncate(conn):
    conn.execute("CREATE TABLE kept_for_ever (id int)")
    conn.execute("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'append-only'; END $$")
    conn.execute("CREATE TRIGGER no BEFORE TRUNCATE ON kept_for_ever EXECUTE FUNCTION refuse()")
    try:
        conn.execute("INSERT INTO kept_for_ever VALUES (1)")
        with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
            conn.execute("TRUNCATE kept_for_ever")
        reset_database()
        assert conn.execute("SELECT count(*) FROM kept_for_ever").fetchone() == (0,)
        with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
            conn.execute("TRUNCATE kept_for_ever")
    finally:
        conn.execute("DROP TABLE kept_for_ever; DROP FUNCTION refuse()")


@pytest.mark.django_db
def test_nothing_is_left_of_another_test():
    assert not Group.objects.filter(name="seen").exists()
