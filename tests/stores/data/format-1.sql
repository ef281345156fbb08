PRAGMA application_id = 1414484050;
BEGIN TRANSACTION;
CREATE TABLE access_keys (
    id           TEXT PRIMARY KEY,
    name         TEXT NOT NULL,
    verbs        TEXT NOT NULL, -- JSON list
    boards       TEXT NOT NULL, -- JSON list of patterns
    digest       BLOB NOT NULL, -- SHA-256 of the secret; the secret itself is nowhere
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER
) STRICT, WITHOUT ROWID
;
INSERT INTO "access_keys" VALUES('dwsjvjt7','game','["write"]','["bl*"]',X'ACCD8E1C901738D4D6B475B94ED9BC023F6262B4AD261AFC150DB8A986644F72',1794736800000000,NULL);
INSERT INTO "access_keys" VALUES('j5gbjdly','site','["read"]','["*"]',X'F665B7104E0E481042677543A128C5A898DBAAA20654C45F21B74A43752BBDAF',1794736800000000,NULL);
CREATE TABLE details (
    position INTEGER PRIMARY KEY,
    body     BLOB NOT NULL
) STRICT;
INSERT INTO "details" VALUES(7,X'7B22646179223A307D');
INSERT INTO "details" VALUES(8,X'7B22646179223A307D');
INSERT INTO "details" VALUES(9,X'7B22646179223A307D');
INSERT INTO "details" VALUES(10,X'7B22646179223A307D');
INSERT INTO "details" VALUES(11,X'7B22646179223A307D');
INSERT INTO "details" VALUES(12,X'7B22646179223A317D');
INSERT INTO "details" VALUES(13,X'7B22646179223A317D');
INSERT INTO "details" VALUES(14,X'7B22646179223A317D');
INSERT INTO "details" VALUES(15,X'7B22646179223A317D');
INSERT INTO "details" VALUES(16,X'7B22646179223A317D');
INSERT INTO "details" VALUES(17,X'7B22646179223A327D');
INSERT INTO "details" VALUES(18,X'7B22646179223A327D');
INSERT INTO "details" VALUES(19,X'7B22646179223A327D');
INSERT INTO "details" VALUES(20,X'7B22646179223A327D');
INSERT INTO "details" VALUES(21,X'7B22646179223A327D');
INSERT INTO "details" VALUES(46,X'7B226C6576656C223A337D');
INSERT INTO "details" VALUES(50,X'5B312C325D');
CREATE TABLE events (
    position    INTEGER PRIMARY KEY,
    recorded_at INTEGER NOT NULL,
    kind        TEXT NOT NULL,
    body        TEXT NOT NULL
) STRICT;
INSERT INTO "events" VALUES(1,1794477600000000,'board','{"board":"blitz","rules":{"title":"Blitz","order":"desc","policy":"best","decimals":0,"subscore":"desc","tie_break":"first","ranking":"competition","windows":["all-time","daily","monthly"],"timezone":"UTC","scopes":["global","country"],"public":false,"score_min":null,"score_max":null,"max_increase":null},"generation":1,"retained":{}}');
INSERT INTO "events" VALUES(2,1794477600000000,'player','{"player":0,"attributes":{"country":"PT"},"open":{"blitz":[["all-time","all"],["daily","2026-11-12"],["monthly","2026-11"]]}}');
INSERT INTO "events" VALUES(3,1794477600000000,'player','{"player":1,"attributes":{"country":"US"},"open":{"blitz":[["all-time","all"],["daily","2026-11-12"],["monthly","2026-11"]]}}');
INSERT INTO "events" VALUES(4,1794477600000000,'player','{"player":2,"attributes":{"country":"PT"},"open":{"blitz":[["all-time","all"],["daily","2026-11-12"],["monthly","2026-11"]]}}');
INSERT INTO "events" VALUES(5,1794477600000000,'player','{"player":3,"attributes":{"country":"US"},"open":{"blitz":[["all-time","all"],["daily","2026-11-12"],["monthly","2026-11"]]}}');
INSERT INTO "events" VALUES(6,1794477600000000,'player','{"player":4,"attributes":{},"open":{}}');
INSERT INTO "events" VALUES(22,1794736800000000,'board','{"board":"coins","rules":{"title":"","order":"desc","policy":"sum","decimals":2,"subscore":null,"tie_break":"first","ranking":"ordinal","windows":["all-time","weekly"],"timezone":"UTC","scopes":["global"],"public":false,"score_min":null,"score_max":null,"max_increase":null},"generation":22,"retained":{}}');
INSERT INTO "events" VALUES(27,1794736800000000,'board','{"board":"laps","rules":{"title":"","order":"asc","policy":"best","decimals":0,"subscore":null,"tie_break":"last","ranking":"ordinal","windows":["all-time"],"timezone":"UTC","scopes":["global"],"public":false,"score_min":null,"score_max":null,"max_increase":null},"generation":27,"retained":{}}');
INSERT INTO "events" VALUES(30,1794736800000000,'board-deleted','{"board":"laps"}');
INSERT INTO "events" VALUES(31,1794736800000000,'board','{"board":"blitz","rules":{"title":"Blitz","order":"desc","policy":"best","decimals":0,"subscore":"desc","tie_break":"first","ranking":"competition","windows":["all-time","daily","weekly",{"name":"s1","starts":"2026-11-01T00:00:00Z","ends":"2026-12-01T00:00:00Z"}],"timezone":"UTC","scopes":["global","country","team"],"public":false,"score_min":null,"score_max":null,"max_increase":null},"generation":1,"retained":{"all-time":["all"],"daily":["2026-11-15","2026-11-14","2026-11-13","2026-11-12","2026-11-11","2026-11-10","2026-11-09","2026-11-08","2026-11-16"],"monthly":["2026-11","2026-10","2026-09","2026-08","2026-07","2026-06","2026-05","2026-04","2026-03","2026-02","2026-01","2025-12","2025-11","2026-12"]}}');
INSERT INTO "events" VALUES(32,1794736800000000,'player','{"player":1,"attributes":{"country":"PT","team":"red"},"open":{"blitz":[["all-time","all"],["daily","2026-11-15"],["weekly","2026-W46"],["s1","s1"]]}}');
INSERT INTO "events" VALUES(33,1794736800000000,'player','{"player":5,"attributes":{"team":"red"},"open":{"blitz":[["all-time","all"],["daily","2026-11-15"],["weekly","2026-W46"],["s1","s1"]]}}');
INSERT INTO "events" VALUES(35,1794736800000000,'board','{"board":"blitz","rules":{"title":"Blitz!","order":"desc","policy":"best","decimals":0,"subscore":"desc","tie_break":"first","ranking":"competition","windows":["all-time","daily",{"name":"s1","starts":"2026-11-01T00:00:00Z","ends":"2026-12-01T00:00:00Z"}],"timezone":"UTC","scopes":["global","country","team"],"public":false,"score_min":null,"score_max":null,"max_increase":null},"generation":1,"retained":{"all-time":["all"],"daily":["2026-11-15","2026-11-14","2026-11-13","2026-11-12","2026-11-11","2026-11-10","2026-11-09","2026-11-08","2026-11-16"],"weekly":["2026-W46","2026-W45","2026-W44","2026-W43","2026-W42","2026-W47"],"s1":["s1"]}}');
INSERT INTO "events" VALUES(36,1794736800000000,'board','{"board":"laps","rules":{"title":"","order":"asc","policy":"latest","decimals":0,"subscore":null,"tie_break":"first","ranking":"ordinal","windows":["all-time","hourly"],"timezone":"UTC","scopes":["global"],"public":false,"score_min":null,"score_max":null,"max_increase":null},"generation":36,"retained":{}}');
INSERT INTO "events" VALUES(38,1794736800000000,'befriended','{"player":0,"other":1}');
INSERT INTO "events" VALUES(39,1794736800000000,'befriended','{"player":0,"other":2}');
INSERT INTO "events" VALUES(40,1794736800000000,'befriended','{"player":1,"other":5}');
INSERT INTO "events" VALUES(41,1794736800000000,'befriended','{"player":6,"other":0}');
INSERT INTO "events" VALUES(42,1794736800000000,'unfriended','{"player":0,"other":2}');
INSERT INTO "events" VALUES(43,1794736800000000,'removed','{"board":"blitz","player":3}');
INSERT INTO "events" VALUES(44,1794736800000000,'erased','{"player":6}');
INSERT INTO "events" VALUES(49,1794744000000000,'player','{"player":3,"attributes":{"country":"DE"},"open":{"blitz":[["all-time","all"],["daily","2026-11-15"],["s1","s1"]]}}');
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "meta" VALUES('database','ec40d15f6bd24565a9cf7f79efa34b77');
INSERT INTO "meta" VALUES('format','1');
CREATE TABLE players (
    number     INTEGER PRIMARY KEY,
    id         TEXT NOT NULL,
    name       TEXT,
    avatar_url TEXT
) STRICT;
INSERT INTO "players" VALUES(0,'ann','Ann',NULL);
INSERT INTO "players" VALUES(1,'bob','Bob',NULL);
INSERT INTO "players" VALUES(2,'cat','Cat',NULL);
INSERT INTO "players" VALUES(3,'eve','Eve',NULL);
INSERT INTO "players" VALUES(4,'gus','Gus','https://example.org/gus.png');
INSERT INTO "players" VALUES(5,'dan','Dän',NULL);
CREATE TABLE routes (
    number     INTEGER PRIMARY KEY,
    board      TEXT NOT NULL,
    generation INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    source     TEXT NOT NULL,
    route      TEXT NOT NULL
) STRICT;
INSERT INTO "routes" VALUES(1,'blitz',1,1,'library','{"stops":[["all-time","all",["global","country:PT"]],["daily","2026-11-12",["global","country:PT"]],["monthly","2026-11",["global","country:PT"]]]}');
INSERT INTO "routes" VALUES(2,'blitz',1,1,'library','{"stops":[["all-time","all",["global","country:US"]],["daily","2026-11-12",["global","country:US"]],["monthly","2026-11",["global","country:US"]]]}');
INSERT INTO "routes" VALUES(3,'blitz',1,1,'library','{"stops":[["all-time","all",["global"]],["daily","2026-11-12",["global"]],["monthly","2026-11",["global"]]]}');
INSERT INTO "routes" VALUES(4,'blitz',1,1,'library','{"stops":[["all-time","all",["global","country:PT"]],["daily","2026-11-13",["global","country:PT"]],["monthly","2026-11",["global","country:PT"]]]}');
INSERT INTO "routes" VALUES(5,'blitz',1,1,'library','{"stops":[["all-time","all",["global","country:US"]],["daily","2026-11-13",["global","country:US"]],["monthly","2026-11",["global","country:US"]]]}');
INSERT INTO "routes" VALUES(6,'blitz',1,1,'library','{"stops":[["all-time","all",["global"]],["daily","2026-11-13",["global"]],["monthly","2026-11",["global"]]]}');
INSERT INTO "routes" VALUES(7,'blitz',1,1,'library','{"stops":[["all-time","all",["global","country:PT"]],["daily","2026-11-14",["global","country:PT"]],["monthly","2026-11",["global","country:PT"]]]}');
INSERT INTO "routes" VALUES(8,'blitz',1,1,'library','{"stops":[["all-time","all",["global","country:US"]],["daily","2026-11-14",["global","country:US"]],["monthly","2026-11",["global","country:US"]]]}');
INSERT INTO "routes" VALUES(9,'blitz',1,1,'library','{"stops":[["all-time","all",["global"]],["daily","2026-11-14",["global"]],["monthly","2026-11",["global"]]]}');
INSERT INTO "routes" VALUES(10,'coins',22,22,'library','{"stops":[["all-time","all",["global"]],["weekly","2026-W46",["global"]]]}');
INSERT INTO "routes" VALUES(11,'laps',27,27,'library','{"stops":[["all-time","all",["global"]]]}');
INSERT INTO "routes" VALUES(12,'blitz',1,31,'library','{"stops":[["all-time","all",["global","country:PT","team:red"]],["daily","2026-11-15",["global","country:PT","team:red"]],["weekly","2026-W46",["global","country:PT","team:red"]],["s1","s1",["global","country:PT","team:red"]]]}');
INSERT INTO "routes" VALUES(13,'laps',36,36,'library','{"stops":[["all-time","all",["global"]],["hourly","2026-11-15T1000Z",["global"]]]}');
INSERT INTO "routes" VALUES(14,'blitz',1,35,'library','{"stops":[["all-time","all",["global","country:PT"]],["daily","2026-11-15",["global","country:PT"]],["s1","s1",["global","country:PT"]]]}');
INSERT INTO "routes" VALUES(15,'blitz',1,35,'library','{"stops":[["all-time","all",["global","country:PT","team:red"]],["daily","2026-11-15",["global","country:PT","team:red"]],["s1","s1",["global","country:PT","team:red"]]]}');
INSERT INTO "routes" VALUES(16,'blitz',1,35,'library','{"stops":[["all-time","all",["global","country:PT"]],["daily","2026-11-14",["global","country:PT"]],["s1","s1",["global","country:PT"]]]}');
INSERT INTO "routes" VALUES(17,'blitz',1,35,'library','{"stops":[["all-time","all",["global","team:red"]],["daily","2026-11-13",["global"]],["s1","s1",["global","team:red"]]]}');
INSERT INTO "routes" VALUES(18,'blitz',1,35,'library','{"stops":[["all-time","all",["global","country:DE"]],["daily","2026-11-15",["global","country:DE"]],["s1","s1",["global","country:DE"]]]}');
INSERT INTO "routes" VALUES(19,'laps',36,36,'library','{"stops":[["all-time","all",["global"]],["hourly","2026-11-15T1300Z",["global"]]]}');
CREATE TABLE submissions (
    position    INTEGER PRIMARY KEY,
    route       INTEGER NOT NULL,
    player      INTEGER NOT NULL,
    previous    INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    score       INTEGER NOT NULL,
    subscore    INTEGER,
    status      INTEGER NOT NULL, -- 1 accepted, 0 unchanged
    key         TEXT,
    digest      BLOB,
    outcome     BLOB              -- scores per window, recorded with a key for its repeats
) STRICT;
INSERT INTO "submissions" VALUES(7,1,0,0,1794477600000000,1794477600000000,50,0,1,NULL,NULL,NULL);
INSERT INTO "submissions" VALUES(8,2,1,0,1794477600000000,1794477600000000,60,0,1,NULL,NULL,NULL);
INSERT INTO "submissions" VALUES(9,1,2,0,1794477600000000,1794477600000000,70,0,1,NULL,NULL,NULL);
INSERT INTO "submissions" VALUES(10,3,5,0,1794477600000000,1794477600000000,80,0,1,NULL,NULL,NULL);
INSERT INTO "submissions" VALUES(11,2,3,0,1794477600000000,1794477600000000,50,0,1,NULL,NULL,NULL);
INSERT INTO "submissions" VALUES(12,4,0,7,1794564000000000,1794564000000000,60,1,1,NULL,NULL,NULL);
INSERT INTO "submissions" VALUES(13,5,1,8,1794564000000000,1794564000000000,70,1,1,NULL,NULL,NULL);
INSERT INTO "submissions" VALUES(14,4,2,9,1794564000000000,1794564000000000,80,1,1,NULL,NULL,NULL);
INSERT INTO "submissions" VALUES(15,6,5,10,1794564000000000,1794564000000000,50,1,1,NULL,NULL,NULL);
INSERT INTO "submissions" VALUES(16,5,3,11,1794564000000000,1794564000000000,60,1,1,NULL,NULL,NULL);
INSERT INTO "submissions" VALUES(17,7,0,12,1794650400000000,1794650400000000,70,2,1,NULL,NULL,NULL);
INSERT INTO "submissions" VALUES(18,8,1,13,1794650400000000,1794650400000000,80,2,1,NULL,NULL,NULL);
INSERT INTO "submissions" VALUES(19,7,2,14,1794650400000000,1794650400000000,50,2,1,NULL,NULL,NULL);
INSERT INTO "submissions" VALUES(20,9,5,15,1794650400000000,1794650400000000,60,2,1,NULL,NULL,NULL);
INSERT INTO "submissions" VALUES(21,8,3,16,1794650400000000,1794650400000000,70,2,1,NULL,NULL,NULL);
INSERT INTO "submissions" VALUES(23,10,0,17,1794736800000000,1794736800000000,125,NULL,1,NULL,NULL,NULL);
INSERT INTO "submissions" VALUES(24,10,1,18,1794736800000000,1794736800000000,250,NULL,1,NULL,NULL,NULL);
INSERT INTO "submissions" VALUES(25,10,0,23,1794736800000000,1794736800000000,75,NULL,1,NULL,NULL,NULL);
INSERT INTO "submissions" VALUES(26,10,6,0,1794736800000000,1794736800000000,999,NULL,1,NULL,NULL,NULL);
INSERT INTO "submissions" VALUES(28,11,0,25,1794736800000000,1794736800000000,61000,NULL,1,NULL,NULL,NULL);
INSERT INTO "submissions" VALUES(29,11,1,24,1794736800000000,1794736800000000,59500,NULL,1,NULL,NULL,NULL);
INSERT INTO "submissions" VALUES(34,12,1,29,1794736800000000,1794736800000000,80,0,1,NULL,NULL,NULL);
INSERT INTO "submissions" VALUES(37,13,2,19,1794736800000000,1794736800000000,62000,NULL,1,NULL,NULL,NULL);
INSERT INTO "submissions" VALUES(45,14,0,28,1794744000000000,1794744000000000,120,0,1,'ann-1',X'DC1F2680484AFCB969EB25BF8D41FB80',X'5B5B5B22616C6C2D74696D65222C22616C6C222C3132302C37305D2C5B226461696C79222C22323032362D31312D3135222C3132302C6E756C6C5D2C5B227331222C227331222C3132302C6E756C6C5D5D2C5B5D5D');
INSERT INTO "submissions" VALUES(46,15,1,34,1794744000000000,1794744000000000,95,7,1,'bob-1',X'C16BD3769BF7EB6D7B31DE2DB70A2E97',X'5B5B5B22616C6C2D74696D65222C22616C6C222C39352C38305D2C5B226461696C79222C22323032362D31312D3135222C39352C38305D2C5B227331222C227331222C39352C38305D5D2C5B5D5D');
INSERT INTO "submissions" VALUES(47,16,2,37,1794744000000000,1794646800000000,130,0,1,'cat-late',X'D4936AF755182F015B4322F6E780B670',X'5B5B5B22616C6C2D74696D65222C22616C6C222C3133302C38305D2C5B226461696C79222C22323032362D31312D3134222C3133302C35305D2C5B227331222C227331222C3133302C6E756C6C5D5D2C5B5D5D');
INSERT INTO "submissions" VALUES(48,17,5,20,1794744000000000,1794571200000000,10,0,1,NULL,NULL,NULL);
INSERT INTO "submissions" VALUES(50,18,3,21,1794744000000000,1794744000000000,77,5,1,NULL,NULL,NULL);
INSERT INTO "submissions" VALUES(51,19,0,45,1794747600000000,1794747600000000,60500,NULL,1,NULL,NULL,NULL);
INSERT INTO "submissions" VALUES(52,19,1,46,1794747600000000,1794747600000000,60500,NULL,1,NULL,NULL,NULL);
INSERT INTO "submissions" VALUES(53,19,2,47,1794747600000000,1794747600000000,61500,NULL,1,NULL,NULL,NULL);
CREATE INDEX players_shown ON players (number) WHERE name IS NOT NULL OR avatar_url IS NOT NULL;
CREATE INDEX submissions_keyed ON submissions (position) WHERE key IS NOT NULL;
COMMIT;
