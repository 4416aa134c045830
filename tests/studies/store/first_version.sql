BEGIN TRANSACTION;
CREATE TABLE answer (
	id INTEGER NOT NULL, 
	slot_id INTEGER NOT NULL, 
	person_id INTEGER NOT NULL, 
	action VARCHAR(8) NOT NULL, 
	answers JSON NOT NULL, 
	passed BOOLEAN, 
	seconds FLOAT, 
	at BIGINT NOT NULL, 
	PRIMARY KEY (id), 
	FOREIGN KEY(slot_id) REFERENCES slot (id), 
	FOREIGN KEY(person_id) REFERENCES person (id)
);
INSERT INTO "answer" VALUES(1,1,1,'submit','{"rewrite": "Bo is old.\nBo sings."}',NULL,60.0,1772366440000);
INSERT INTO "answer" VALUES(2,4,2,'submit','{"grammaticality": 5, "meaning": 5, "simplicity": 2, "structural": 2}',NULL,20.0,1772366470000);
INSERT INTO "answer" VALUES(3,8,2,'submit','{"grammaticality": 5, "meaning": 5, "simplicity": 2, "structural": 2}',1,20.0,1772366490000);
CREATE TABLE event (
	id INTEGER NOT NULL, 
	at BIGINT NOT NULL, 
	person_id INTEGER, 
	what VARCHAR(16) NOT NULL, 
	detail TEXT, 
	PRIMARY KEY (id), 
	FOREIGN KEY(person_id) REFERENCES person (id)
);
INSERT INTO "event" VALUES(1,1772366410000,NULL,'created',NULL);
INSERT INTO "event" VALUES(2,1772366520000,3,'excluded',NULL);
CREATE TABLE item (
	id INTEGER NOT NULL, 
	"key" TEXT NOT NULL, 
	kind VARCHAR(8) NOT NULL, 
	purpose VARCHAR(16) NOT NULL, 
	source TEXT NOT NULL, 
	rewrite JSON, 
	expected JSON, 
	feedback JSON, 
	rank INTEGER NOT NULL, 
	writer_id INTEGER, 
	slot_id INTEGER, 
	answer_id INTEGER, 
	withdrawn BOOLEAN NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE ("key"), 
	FOREIGN KEY(writer_id) REFERENCES person (id)
);
INSERT INTO "item" VALUES(1,'s0','write','item','Bo, who is old, sings.',NULL,NULL,NULL,536870911,NULL,NULL,NULL,0);
INSERT INTO "item" VALUES(2,'i0','rate','item','Bo, who is old, sings.','{"source": "Bo, who is old, sings.", "simple": ["Bo is old.", "Bo sings."], "splitter": "rules"}',NULL,NULL,0,NULL,NULL,NULL,0);
INSERT INTO "item" VALUES(3,'i1','rate','item','Al, who is old, sings.','{"source": "Al, who is old, sings.", "simple": ["Bo is old.", "Bo sings."], "splitter": "rules"}',NULL,NULL,1610612735,NULL,NULL,NULL,0);
INSERT INTO "item" VALUES(4,'a0','rate','attention','Cy, who is old, sings.','{"source": "Cy, who is old, sings.", "simple": ["Bo is old.", "Bo sings."], "splitter": "rules"}','{"grammaticality": 5}',NULL,1073741823,NULL,NULL,NULL,0);
INSERT INTO "item" VALUES(5,'s0.1','rate','item','Bo, who is old, sings.','{"source": "Bo, who is old, sings.", "simple": ["Bo is old.", "Bo sings."], "splitter": "human", "source_id": "s0"}',NULL,NULL,445929770,1,1,1,0);
CREATE TABLE parataxis_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT parataxis_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "parataxis_version" VALUES('0001');
CREATE TABLE person (
	id INTEGER NOT NULL, 
	code VARCHAR(32) NOT NULL, 
	role VARCHAR(16) NOT NULL, 
	state VARCHAR(16) NOT NULL, 
	name TEXT, 
	language VARCHAR(16), 
	panel_id TEXT, 
	panel JSON, 
	background JSON, 
	invited_at BIGINT NOT NULL, 
	consented_at BIGINT, 
	seen_at BIGINT, 
	qualified BOOLEAN, 
	attempt INTEGER NOT NULL, 
	seed BIGINT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (code), 
	UNIQUE (panel_id)
);
INSERT INTO "person" VALUES(1,'pzm9jaspad','writer','active','Wanda',NULL,NULL,NULL,NULL,1772366420000,NULL,1772366430000,NULL,1,4107807964572090151);
INSERT INTO "person" VALUES(2,'6nnudd6cpv','rater','active','Ann',NULL,NULL,NULL,NULL,1772366450000,NULL,1772366460000,NULL,1,1446279902661434682);
INSERT INTO "person" VALUES(3,'xm7td6rv7t','rater','excluded','Bob',NULL,NULL,NULL,NULL,1772366450000,NULL,NULL,NULL,1,3345316434813812283);
CREATE TABLE slot (
	id INTEGER NOT NULL, 
	item_id INTEGER NOT NULL, 
	kind VARCHAR(8) NOT NULL, 
	purpose VARCHAR(16) NOT NULL, 
	place INTEGER, 
	state VARCHAR(8) NOT NULL, 
	person_id INTEGER, 
	attempt INTEGER NOT NULL, 
	rank INTEGER NOT NULL, 
	writer_id INTEGER, 
	leased_at BIGINT, 
	leased_until BIGINT, 
	draft JSON, 
	answer_id INTEGER, 
	submitted_at BIGINT, 
	PRIMARY KEY (id), 
	CONSTRAINT slot_once UNIQUE (item_id, person_id, attempt), 
	FOREIGN KEY(item_id) REFERENCES item (id), 
	FOREIGN KEY(person_id) REFERENCES person (id)
);
INSERT INTO "slot" VALUES(1,1,'write','item',1,'done',1,1,536870911,NULL,1772366430000,NULL,NULL,1,1772366440000);
INSERT INTO "slot" VALUES(2,2,'rate','item',1,'leased',2,1,0,NULL,1772366500000,1772368310000,'{"grammaticality": 5, "meaning": 5, "simplicity": 2, "structural": 2}',NULL,NULL);
INSERT INTO "slot" VALUES(3,2,'rate','item',2,'open',NULL,1,0,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "slot" VALUES(4,3,'rate','item',1,'done',2,1,1610612735,NULL,1772366460000,NULL,NULL,2,1772366470000);
INSERT INTO "slot" VALUES(5,3,'rate','item',2,'open',NULL,1,1610612735,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "slot" VALUES(6,5,'rate','item',1,'open',NULL,1,445929770,1,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "slot" VALUES(7,5,'rate','item',2,'open',NULL,1,445929770,1,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "slot" VALUES(8,4,'rate','attention',NULL,'done',2,1,1073741823,NULL,1772366480000,NULL,NULL,3,1772366490000);
CREATE TABLE study (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	description JSON NOT NULL, 
	paused BOOLEAN NOT NULL, 
	created_at BIGINT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "study" VALUES(1,'old','{"name": "old", "rubric": "gms", "languages": ["en", "es"], "url": null, "items": null, "write": {"sources": "sources.txt", "writers": 1, "sentences": 2, "per_person": null}, "rate": {"raters": 2, "per_person": null}, "qualification": null, "attention": {"items": "attention.jsonl", "every": 1, "tolerance": 0.0, "allowed": 0, "on_failure": "warn"}, "known": null, "instructions": null, "consent": null, "background": [], "panel": null, "lease_minutes": 30.0, "payment": null}',0,1772366410000);
CREATE INDEX item_purpose ON item (purpose, id);
CREATE INDEX item_writer ON item (writer_id);
CREATE INDEX item_slot ON item (slot_id);
CREATE INDEX event_person ON event (person_id, id);
CREATE UNIQUE INDEX slot_place ON slot (item_id, kind, place) WHERE state IN ('open', 'leased', 'done');
CREATE INDEX slot_open ON slot (kind, rank, id) WHERE state = 'open';
CREATE INDEX slot_leased ON slot (leased_until) WHERE state = 'leased';
CREATE INDEX slot_writer ON slot (writer_id);
CREATE INDEX slot_person ON slot (person_id, state, kind, purpose);
CREATE INDEX answer_slot ON answer (slot_id, id);
CREATE INDEX answer_at ON answer (at);
CREATE INDEX answer_person ON answer (person_id, id);
COMMIT;
