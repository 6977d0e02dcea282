"""Databases, caches and brokers: what they say about access, about data, and about themselves."""

from jobs.domain.failures import FailureType
from jobs.domain.rules.base import Rule, Sign

_FATAL, _LOGICAL, _INFRASTRUCTURE = FailureType.FATAL, FailureType.LOGICAL, FailureType.INFRASTRUCTURE

RULES: tuple[Rule, ...] = (
    Rule(
        "database-access",
        Sign.PHRASE,
        "requested by the login | the login failed | password authentication failed | no password supplied"
        " | no pg_hba.conf entry | authentication failed against the database | access denied for user | bad auth"
        " | auth failed | scram * authentication | noauth | wrongpass | noperm | auth error | client sent auth"
        " | authentication required | login failed for user | access_refused | username-password pair"
        " | invalid username-password | role * does not exist | role * is not permitted | pg_hba"
        " | ident authentication failed | peer authentication failed | not authorized on * to execute"
        " | command * requires authentication | sasl authentication failed | user * not allowed to connect"
        " | missing authentication credentials | err auth | password must be a string"
        " | account is locked | without any password configured | tenant or user not found"
        " | authentication failed",
        _FATAL,
        "our database or cache refuses our login",
    ),
    Rule(
        "database-schema",
        Sign.PHRASE,
        "duplicate column name | duplicate table | column already exists | relation * already exists"
        " | table * already exists | undefined_table | undefinedtable | undefinedcolumn | undefined_column"
        " | undefinedobject | undefinedfunction | no such table | no such column | no such function"
        " | invalid object name | invalid column name | unknown column | unknown database | unknown table"
        " | has no column named | permission denied for | must be owner of | permission denied to"
        " | insufficientprivilege | table * does not exist in the current database"
        " | column * does not exist in the current database | unapplied migration | pending migration"
        " | migrations are pending | migrate found failed migrations"
        " | run migrations | has not been migrated | schema is not up to date | schema version | database schema"
        " | no primary or default | relation * does not exist | relation does not exist"
        " | type * does not exist | function * does not exist | operator does not exist"
        " | extension * is not available | could not open extension control file | access to database"
        " | database * does not exist | schema * does not exist | column * of relation * does not exist"
        " | sequence * does not exist | cannot execute * in a read-only transaction * rights"
        " | attempt to write a readonly database | unable to open database file | index_not_found_exception"
        " | no such index | ns not found | no such collection | collection * not found"
        " | text search configuration | could not access file | syntax error at or near"
        " | you have an error in your sql syntax",
        _FATAL,
        "a table, column, right or migration is missing in our database",
    ),
    Rule(
        "database-schema-dotted",
        Sign.PATTERN,
        r"\b(?:relation|column|table|view|schema|function) \w{1,60}\.\w{1,60} (?:does not exist|doesn't exist|"
        r"not found|"
        r"is not found|could not be found)\b",
        _FATAL,
        "a table, column, right or migration is missing in our database",
    ),
    Rule(
        "database-schema-quoted",
        Sign.PATTERN,
        r"\b(?:relation|column|table|role|database|schema|function|type|"
        r"extension)\s+[\"'`«“][^\"'`»”\n]{1,120}[\"'`»”](?:\.[\w.\"'`]{1,80})?(?:\s+of\s+relation\s+[\"'`][^\"'`"
        r"\n]{1,120}[\"'`])?\s+(?:does not exist|doesn't exist|is not available|existiert nicht|n'existe pas|"
        r"no existe)|\bfunction \w{1,60}\([^)\n]{0,200}\) does not exist|\b(?:column|"
        r"relation) [\w.]{1,80} does not exist",
        _FATAL,
        "a table, column, role or database is missing",
    ),
    Rule(
        "database-own-setting",
        Sign.PATTERN,
        r"\b(?:psycopg\w*|postgres(?:ql)?|pgbouncer|mysql|mongo\w*|redis|asyncpg|"
        r"connection to server)\b[^\0]{0,300}(?:certificate verify failed|root certificate file|"
        r"self.signed certificate|server does not support ssl|ssl is not enabled|invalid dsn|"
        r"invalid connection (?:option|string)|invalid port number|unsupported startup parameter)|the datasource|"
        r"datasource url|url must start with the protocol|invalid port number in database url|"
        r"error validating datasource|missing \"?=\"? after .{0,60} in connection info",
        _FATAL,
        "our database address or certificate setting is wrong",
    ),
    Rule(
        "database-damaged",
        Sign.CLUES,
        r"\b(?:page header|multixact\w*|pg_xact|pg_clog|status of transaction|toast value|heap tuple|right sibling|"
        r"index (?:contains invalid|is corrupt\w*|is damaged|is inconsistent)|corrupt(?:ed)? index|"
        r"unexpected data beyond eof|is not a btree|control file|wal (?:file|segment|record))\b",
        _INFRASTRUCTURE,
        "files of our database are damaged",
    ),
    Rule(
        "vector-size",
        Sign.CLUES,
        r"\bexpected \d{1,6} dimensions?\b|\bexpected dim\b|\bvector dimensions?\b|\bdimension(?:s|ality)? (?:mismatch|"
        r"error|of|does not match|do not match|must match)",
        _FATAL,
        "our index was made for another model's vectors",
    ),
    Rule(
        "database-about-data",
        Sign.PHRASE,
        "would be truncated | cannot insert the value null | conversion failed when converting"
        " | arithmetic overflow | violation of unique | violation of primary | conditionalcheckfailed"
        " | duplicate key | duplicate entry | duplicatekey | e11000 | unique constraint | uniqueviolation"
        " | violates unique | unique-constraint | eindeutigkeit | violates foreign key | foreign key constraint"
        " | foreignkeyviolation | violates not-null | not null violation | not null constraint | notnullviolation"
        " | null value in column | violates check constraint | check constraint | exclusion constraint"
        " | integrity constraint | constraint failed | value too long | data too long | stringdatarighttruncation"
        " | data truncated | data truncation | out of range value | numeric field overflow | integer out of range"
        " | numeric value out of range | value out of range | numericvalueoutofrange | out of range for type"
        " | invalid input syntax | invalid byte sequence | characternotinrepertoire | untranslatablecharacter"
        " | unsupported unicode escape | cannot contain nul | cannot contain null | nul (0x00) | u0000"
        " | null character not permitted | incorrect string value | cannot be converted to text"
        " | incorrect datetime value | date/time field value out of range | invalid text representation"
        " | invalid enum value | index row size | index row requires | row is too big | document too large"
        " | bsonobjecttoolarge | bson document | object to insert too large | max_allowed_packet"
        " | packet for query is too large | string too large | wrongtype | depends on one or more records"
        " | record to delete does not exist | record to update not found | an operation failed because it depends"
        " | mapper_parsing_exception | failed to parse field | strict_dynamic_mapping | version_conflict"
        " | document missing | cannot add or update a child row | cannot delete or update a parent row"
        " | division by zero | invalid json | malformed array literal | invalid hexadecimal"
        " | deserialization error | message too large | messagesizetoolarge | msg_size_too_large | tsvector"
        " | no rows in result set | matching query does not exist | no row was found | no result found"
        " | multiple rows were found | multipleobjectsreturned | record not found | row not found"
        " | entity not found | could not find * record | null constraint violation",
        _LOGICAL,
        "the database refuses this data; the database is well",
    ),
    Rule(
        "database-busy",
        Sign.PHRASE,
        "tuple concurrently | could not fsync | deadlock | could not serialize access | serialization failure"
        " | could not obtain lock"
        " | lock wait timeout | lock timeout | locknotavailable | lock_timeout | canceling statement"
        " | cancelling statement | statement timeout | querycanceled | query_canceled"
        " | query execution was interrupted | max_statement_time | maximum statement execution time"
        " | database is locked | database table is locked | write conflict | transaction * aborted"
        " | commands ignored until end of transaction | transaction already closed | expired transaction"
        " | unable to start a transaction | transaction api error | idle-in-transaction | idle in transaction"
        " | transaction timeout | timed out during query | operation exceeded time limit | exceeded time limit"
        " | maxtimemsexpired | too many clients | too many connections | remaining connection slots"
        " | connection slots are reserved | max number of clients | maxclientsinsession"
        " | maximum number of connections | no more connections allowed | too many database connections"
        " | max client connections | max_client_conn",
        _INFRASTRUCTURE,
        "our database is overloaded or blocked",
    ),
    Rule(
        "database-pool",
        Sign.PHRASE,
        "connection from the pool | connection pool | pool is probably full | queuepool | pool timeout"
        " | pooltimeout | couldn't get a connection | timeout acquiring a connection | acquiring a connection"
        " | resourcerequest timed out | operation timed out * pool | timeout exceeded when trying to connect"
        " | connection is not available, request timed out | pool exhausted | pool is exhausted | exhausted pool"
        " | pooler error | client_login_timeout | query_wait_timeout | waitqueuetimeout"
        " | waiting for connection from pool | timeout while checking out | checking out a connection"
        " | sequelizeconnectionacquiretimeouterror | connectionacquiretimeout | could not obtain connection"
        " | no available connection | no connection available | pool is closed | pool has been closed"
        " | pool is draining | pool was closed | pool size | pool limit | get connection timeout"
        " | connection_limit | no managed connections | hikaripool | could not get a resource from the pool"
        " | no free connections | pool overflow",
        _INFRASTRUCTURE,
        "our own connection pool is used up",
    ),
    Rule(
        "database-down",
        Sign.PHRASE,
        "could not connect to server | listener does not currently know"
        " | terminating connection | the database system is | database system is starting up"
        " | database system is shutting down | database system is in recovery | server closed the connection"
        " | connection to server | server terminated | consuming input failed | connection already closed"
        " | cursor already closed | connection has been closed * database | connection not open"
        " | can't reach database | could not connect to database | can't connect to mysql"
        " | can't connect to local mysql | lost connection to mysql | server has gone away | mysql server"
        " | lost synchronization with server | could not receive data from | could not send data to"
        " | unexpected eof on client connection | ssl connection has been closed unexpectedly | ssl syscall error"
        " | connection terminated | connection to database | database connection | db connection"
        " | database server | cannot connect to database | failed to connect to the database"
        " | database unavailable | database is unavailable | database is shutting down"
        " | could not fork new process | out of shared memory | could not extend file | could not write to file"
        " | could not write block | could not resize shared memory | could not read block"
        " | database or disk is full | disk i/o error | database disk image is malformed | the table * is full"
        " | invalid page in block | missing chunk number | max_locks_per_transaction | recovery mode"
        " | hot standby | conflict with recovery | read-only transaction | not primary | notprimary"
        " | node is recovering | primary stepped down | no primary | not master | notmaster | not writable primary"
        " | replica set | replicaset | readpreference | no replica set members | server selection"
        " | serverselectiontimeout | mongoserverselection | mongonetworkerror | topology was destroyed"
        " | topology is closed | cached plan must not change | prepared statement | server conn crashed"
        " | pgbouncer cannot connect | server login has been failing | terminating because"
        " | crash of another server process | administrator command | server_login_retry",
        _INFRASTRUCTURE,
        "our database is down, restarting or full",
    ),
    Rule(
        "own-worker-library",
        Sign.CLUES,
        r"\Aexceptions:[^\n]*\b(?:connectionpool\.(?:error|timeout\w*)|celluloid\.)",
        _INFRASTRUCTURE,
        "a pool or a worker of ours hangs",
    ),
    Rule(
        "own-leader",
        Sign.CLUES,
        r"\b(?:not (?:the |a )?|no (?:\w+ )?|lost |find (?:the |a )?|elect\w* (?:a |the )?(?:new )?|"
        r"connect to (?:the )?)leader\b|"
        r"\bleader(?:ship)? (?:was |is |has |has been )?(?:lost|changed|election|not available|unknown|gone|"
        r"stepp\w+)\b|"
        r"\bquorum\b|\bsplit.?brain\b",
        _INFRASTRUCTURE,
        "a cluster that we run has no leader for now",
    ),
    Rule(
        "queue-trouble",
        Sign.CLUES,
        r"\b(?:reserv|dequeu|enqueu|claim|unlock|acknowledg|ack|nack|requeu)(?:e|ing|ed)? (?:an? |the |next )?"
        r"(?:jobs?|tasks?|messages?)\b[^\n]{0,60}\b(?:error|fail\w*|timeout|connection|lost|closed)\b|"
        r"\b(?:error|fail\w*|unable|could ?n[o']t|cannot)\b[^\n]{0,20}\b(?:reserv|dequeu|enqueu|claim|acknowledg|ack|"
        r"nack|"
        r"requeu)(?:e|ing)? (?:an? |the |next )?(?:jobs?|tasks?|messages?)\b",
        _INFRASTRUCTURE,
        "our queue does not take or give jobs",
    ),
    Rule(
        "cache-down",
        Sign.PHRASE,
        "misconf | oom command not allowed | loading redis is loading | redis is loading | clusterdown"
        " | readonly you can't write | masterdown | noreplicas | noscript | busy redis is busy"
        " | maxretriesperrequesterror | max retries per request | reached the max retries per request"
        " | redis connection | redis is not | connecting to redis | connect to redis | stream isn't writeable"
        " | all sentinels are unreachable | no master found | read only replica | read-only replica"
        " | read only slave | command timed out | error while reading from | connection_forced"
        " | connection forced | channel closed | amqp connection | amqpconnectionerror | broker:"
        " | broker connection | broker unreachable | connection to broker | broker not available"
        " | broker may not be available | leader_not_available | leader not available | not_leader"
        " | broker not connected | kafkajs | brokers are down | all brokers | nobrokersavailable | memory alarm"
        " | circuit_breaking_exception"
        " | es_rejected_execution | cluster_block_exception | flood-stage | flood stage | no living connections"
        " | master_not_discovered | all shards failed | no shard available | no node available | nodenotavailable"
        " | noshardavailable | data too large, data for | failed to refresh slots cache | cluster state"
        " | moved to another node | redis client | job stalled | could not renew lock | missing lock for job"
        " | lock mismatch | lost lock | lock expired | lock lost",
        _INFRASTRUCTURE,
        "our cache, queue or search index is down, full or failing over",
    ),
)
