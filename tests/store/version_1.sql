-- A workspace of schema version 1, as its program left it. Key: 367ce92b7478d9ba98b3128cbe2aa9e0e5a20b641adff350029d85809cc452bf
BEGIN TRANSACTION;
CREATE TABLE audit (
	seq INTEGER NOT NULL, 
	at VARCHAR NOT NULL, 
	actor VARCHAR NOT NULL, 
	action VARCHAR NOT NULL, 
	subject VARCHAR NOT NULL, 
	detail TEXT NOT NULL, 
	hash VARCHAR(64) NOT NULL, 
	PRIMARY KEY (seq)
);
INSERT INTO "audit" VALUES(1,'2026-11-21T07:57:40.126+00:00','tester','corpus imported','c-p6jxry82ec','{"population":"pop-w6d7a7rjhz","population_known":false,"records":6,"units":6}','1f000d92ceee11aa8ab6c3fe41ffdcd883d1d42b553b8f0f2712765eec05b849');
INSERT INTO "audit" VALUES(2,'2026-11-21T07:57:40.168+00:00','tester','corpus imported','c-r8ch9ggmtt','{"population":"pop-8tvksvq9qk","population_known":false,"records":6,"units":6}','081d9a4caad9b24092ff265239b568daf90149b2dc43d2ea9e86884655fabd7b');
INSERT INTO "audit" VALUES(3,'2026-11-21T07:57:40.192+00:00','tester','corpus deleted','c-r8ch9ggmtt','{"records":6,"runs":0}','3cdb8cd7318bb420d0440582b54ca7e11bc4bc20f2f34b1a7b24ddbe24dc436d');
CREATE TABLE audit_head (
	id INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	seal VARCHAR(64) NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "audit_head" VALUES(1,3,'f09b268fbd525a7c55a64382cf9788b96cb56bd868dd909a133b34a35cd856e8');
CREATE TABLE corpora (
	id VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	created VARCHAR NOT NULL, 
	unit VARCHAR NOT NULL, 
	cap INTEGER NOT NULL, 
	holdout_rate FLOAT NOT NULL, 
	records INTEGER NOT NULL, 
	units INTEGER NOT NULL, 
	holdout_units INTEGER NOT NULL, 
	has_gold BOOLEAN NOT NULL, 
	span_source VARCHAR, 
	spans_at VARCHAR, 
	detected_at VARCHAR, 
	revision INTEGER NOT NULL, 
	population VARCHAR NOT NULL, 
	warnings JSON NOT NULL, 
	statistics JSON NOT NULL, 
	detector TEXT, 
	PRIMARY KEY (id), 
	FOREIGN KEY(population) REFERENCES populations (id)
);
INSERT INTO "corpora" VALUES('c-p6jxry82ec','Letters','2026-11-21T07:57:40.103+00:00','record',1,0.2,6,6,0,1,'gold',NULL,NULL,0,'pop-w6d7a7rjhz','["No unit fell into the holdout, so leaks cannot be told from coincidence; raise the holdout share or import more records."]','{"records": 6, "units": 6, "holdout_units": 0, "holdout_records": 0, "characters": {"min": 91.0, "p5": 91.5, "p25": 93.0, "p50": 93.0, "p75": 93.0, "p95": 93.0, "max": 93.0, "mean": 92.67}, "words": {"min": 17.0, "p5": 17.0, "p25": 17.0, "p50": 17.0, "p75": 17.0, "p95": 17.0, "max": 17.0, "mean": 17.0}, "labels": {"knee": 6}, "records_per_unit": {"1": 6}, "duplicates": 0, "near_duplicates_across_split": null, "empties_dropped": 0, "language": {"en": 1.0}, "english_share": 1.0, "warnings": ["No unit fell into the holdout, so leaks cannot be told from coincidence; raise the holdout share or import more records."], "train_units": 6, "train_records": 6, "over_cap": 0, "sources": 5, "without_source": 0, "duplicates_across_split": 0, "gold_spans": 12, "records_with_gold": 6}',NULL);
CREATE TABLE decisions (
	seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	corpus_id VARCHAR NOT NULL, 
	batch INTEGER NOT NULL, 
	at VARCHAR NOT NULL, 
	actor VARCHAR NOT NULL, 
	action VARCHAR NOT NULL, 
	span_id INTEGER, 
	position INTEGER, 
	start INTEGER, 
	"end" INTEGER, 
	first_label VARCHAR, 
	label VARCHAR, 
	prior JSON, 
	undoes INTEGER, 
	FOREIGN KEY(corpus_id) REFERENCES corpora (id) ON DELETE CASCADE
);
CREATE TABLE findings (
	run_id VARCHAR NOT NULL, 
	position INTEGER NOT NULL, 
	body JSON NOT NULL, 
	PRIMARY KEY (run_id, position), 
	FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);
CREATE TABLE jobs (
	seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	id VARCHAR NOT NULL, 
	kind VARCHAR NOT NULL, 
	lane VARCHAR NOT NULL, 
	state VARCHAR NOT NULL, 
	stage VARCHAR NOT NULL, 
	done INTEGER NOT NULL, 
	total INTEGER NOT NULL, 
	seconds_left FLOAT, 
	created VARCHAR NOT NULL, 
	started VARCHAR, 
	finished VARCHAR, 
	heartbeat VARCHAR, 
	attempts INTEGER NOT NULL, 
	cancel BOOLEAN NOT NULL, 
	error VARCHAR, 
	sample JSON NOT NULL, 
	arguments JSON NOT NULL, 
	cursor JSON, 
	corpus_id VARCHAR, 
	run_id VARCHAR, 
	UNIQUE (id), 
	FOREIGN KEY(corpus_id) REFERENCES corpora (id) ON DELETE CASCADE, 
	FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);
INSERT INTO "jobs" VALUES(1,'j-berb62f56m','profile','light','queued','',0,0,NULL,'2026-11-21T07:57:40.119+00:00',NULL,NULL,NULL,0,0,NULL,'[]','{}',NULL,'c-p6jxry82ec',NULL);
INSERT INTO "jobs" VALUES(3,'j-xb6ancpcb6','synthesize','heavy','done','',0,0,0.0,'2026-11-21T07:57:40.176+00:00','2026-11-21T07:57:40.179+00:00','2026-11-21T07:57:40.182+00:00','2026-11-21T07:57:40.182+00:00',1,0,NULL,'["one"]','{}',NULL,'c-p6jxry82ec','r-pdyry6snrf');
CREATE TABLE pending_removals (
	path VARCHAR NOT NULL, 
	pid INTEGER, 
	at VARCHAR NOT NULL, 
	PRIMARY KEY (path)
);
CREATE TABLE populations (
	id VARCHAR NOT NULL, 
	created VARCHAR NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "populations" VALUES('pop-w6d7a7rjhz','2026-11-21T07:57:40.097+00:00');
INSERT INTO "populations" VALUES('pop-8tvksvq9qk','2026-11-21T07:57:40.159+00:00');
CREATE TABLE record_index (
	corpus_id VARCHAR NOT NULL, 
	position INTEGER NOT NULL, 
	record_id VARCHAR NOT NULL, 
	split VARCHAR NOT NULL, 
	spans INTEGER NOT NULL, 
	accepted INTEGER NOT NULL, 
	undecided INTEGER NOT NULL, 
	decided INTEGER NOT NULL, 
	hazard FLOAT NOT NULL, 
	reviewed BOOLEAN NOT NULL, 
	PRIMARY KEY (corpus_id, position), 
	UNIQUE (corpus_id, record_id), 
	FOREIGN KEY(corpus_id) REFERENCES corpora (id) ON DELETE CASCADE
)
 WITHOUT ROWID

;
INSERT INTO "record_index" VALUES('c-p6jxry82ec',0,'id0','train',2,2,2,0,1.56653810045376845616e-01,0);
INSERT INTO "record_index" VALUES('c-p6jxry82ec',1,'id1','train',2,2,2,0,1.56653810045376845616e-01,0);
INSERT INTO "record_index" VALUES('c-p6jxry82ec',2,'id2','train',2,2,2,0,1.56653810045376845616e-01,0);
INSERT INTO "record_index" VALUES('c-p6jxry82ec',3,'id3','train',2,2,2,0,1.56653810045376845616e-01,0);
INSERT INTO "record_index" VALUES('c-p6jxry82ec',4,'id4','train',2,2,2,0,1.56653810045376845616e-01,0);
INSERT INTO "record_index" VALUES('c-p6jxry82ec',5,'id5','train',2,2,2,0,1.56653810045376845616e-01,0);
CREATE TABLE releases (
	id VARCHAR NOT NULL, 
	run_id VARCHAR NOT NULL, 
	corpus_id VARCHAR NOT NULL, 
	created VARCHAR NOT NULL, 
	records INTEGER NOT NULL, 
	policy VARCHAR NOT NULL, 
	path VARCHAR NOT NULL, 
	files JSON NOT NULL, 
	detail JSON NOT NULL, 
	PRIMARY KEY (id)
);
CREATE TABLE runs (
	id VARCHAR NOT NULL, 
	corpus_id VARCHAR NOT NULL, 
	method VARCHAR NOT NULL, 
	title VARCHAR NOT NULL, 
	parameters JSON NOT NULL, 
	seed INTEGER NOT NULL, 
	model VARCHAR NOT NULL, 
	count INTEGER NOT NULL, 
	state VARCHAR NOT NULL, 
	created VARCHAR NOT NULL, 
	started VARCHAR, 
	finished VARCHAR, 
	seconds FLOAT NOT NULL, 
	kept INTEGER NOT NULL, 
	funnel JSON NOT NULL, 
	diagnostics JSON NOT NULL, 
	guarantee JSON NOT NULL, 
	manifest JSON NOT NULL, 
	error VARCHAR, 
	state_json JSON, 
	revision INTEGER NOT NULL, 
	needs_spans BOOLEAN NOT NULL, 
	examined_at VARCHAR, 
	examined_revision INTEGER, 
	released_at VARCHAR, 
	job_id VARCHAR, 
	PRIMARY KEY (id), 
	FOREIGN KEY(corpus_id) REFERENCES corpora (id) ON DELETE CASCADE
);
INSERT INTO "runs" VALUES('r-pdyry6snrf','c-p6jxry82ec','filter','Filter','{"temperature": 0.7, "operator": "rephrase"}',3,'builtin',1,'done','2026-11-21T07:57:40.175+00:00','2026-11-21T07:57:40.179+00:00','2026-11-21T07:57:40.182+00:00',0.0,1,'{"made": 1, "kept": 1}','{}','{"kind": "none", "sentence": "No formal guarantee.", "scope": "nothing", "epsilon": null, "delta": null, "unit": "record", "adjacency": "", "events": [], "assumptions": [], "voided_by": [], "noise": {}, "accounting": {}, "pending": false}','{}',NULL,'{"seen": ["one"]}',0,1,NULL,NULL,NULL,'j-xb6ancpcb6');
CREATE TABLE schema_version (
	version INTEGER NOT NULL
);
INSERT INTO "schema_version" VALUES(1);
CREATE TABLE settings (
	"key" VARCHAR NOT NULL, 
	value JSON NOT NULL, 
	PRIMARY KEY ("key")
);
CREATE TABLE spans (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	corpus_id VARCHAR NOT NULL, 
	position INTEGER NOT NULL, 
	start INTEGER NOT NULL, 
	"end" INTEGER NOT NULL, 
	label VARCHAR NOT NULL, 
	first_label VARCHAR NOT NULL, 
	score FLOAT NOT NULL, 
	recogniser VARCHAR NOT NULL, 
	identifier_type VARCHAR NOT NULL, 
	origin VARCHAR NOT NULL, 
	active BOOLEAN NOT NULL, 
	state VARCHAR NOT NULL, 
	decided BOOLEAN NOT NULL, 
	hazard FLOAT NOT NULL, 
	value_key VARCHAR(32) NOT NULL, 
	FOREIGN KEY(corpus_id) REFERENCES corpora (id) ON DELETE CASCADE
);
INSERT INTO "spans" VALUES(1,'c-p6jxry82ec',0,10,38,'PERSON','PERSON',1.0,'gold','direct','gold',1,'accepted',0,1.05360515657826309121e-01,'ffdf2722701d1cc43279cdda2da59d48');
INSERT INTO "spans" VALUES(2,'c-p6jxry82ec',0,47,57,'DATE','DATE',1.0,'gold','quasi','gold',1,'accepted',0,5.1293294387550536495e-02,'1540e7fb3ae064ca8031a9502ce93cf5');
INSERT INTO "spans" VALUES(3,'c-p6jxry82ec',1,10,38,'PERSON','PERSON',1.0,'gold','direct','gold',1,'accepted',0,1.05360515657826309121e-01,'972594248339f2c020f0eab2b129dcd4');
INSERT INTO "spans" VALUES(4,'c-p6jxry82ec',1,47,57,'DATE','DATE',1.0,'gold','quasi','gold',1,'accepted',0,5.1293294387550536495e-02,'82b4c6e826b9d1dd1b8cb3505897fa04');
INSERT INTO "spans" VALUES(5,'c-p6jxry82ec',2,10,38,'PERSON','PERSON',1.0,'gold','direct','gold',1,'accepted',0,1.05360515657826309121e-01,'aeb5971c0e869cabf86ec01fbc56df0f');
INSERT INTO "spans" VALUES(6,'c-p6jxry82ec',2,47,57,'DATE','DATE',1.0,'gold','quasi','gold',1,'accepted',0,5.1293294387550536495e-02,'a2c7732e22d0a2f6007ff79645281052');
INSERT INTO "spans" VALUES(7,'c-p6jxry82ec',3,10,38,'PERSON','PERSON',1.0,'gold','direct','gold',1,'accepted',0,1.05360515657826309121e-01,'5212e098d59aa6816979e982a6ad6130');
INSERT INTO "spans" VALUES(8,'c-p6jxry82ec',3,47,57,'DATE','DATE',1.0,'gold','quasi','gold',1,'accepted',0,5.1293294387550536495e-02,'08aa09e1ee7887dde4023032d7ec9dc9');
INSERT INTO "spans" VALUES(9,'c-p6jxry82ec',4,10,38,'PERSON','PERSON',1.0,'gold','direct','gold',1,'accepted',0,1.05360515657826309121e-01,'cff9a243a42de20332852facd8f166c8');
INSERT INTO "spans" VALUES(10,'c-p6jxry82ec',4,47,57,'DATE','DATE',1.0,'gold','quasi','gold',1,'accepted',0,5.1293294387550536495e-02,'e955e41ee475b7b83a5d9f0509a572f3');
INSERT INTO "spans" VALUES(11,'c-p6jxry82ec',5,10,38,'PERSON','PERSON',1.0,'gold','direct','gold',1,'accepted',0,1.05360515657826309121e-01,'ffdf2722701d1cc43279cdda2da59d48');
INSERT INTO "spans" VALUES(12,'c-p6jxry82ec',5,47,57,'DATE','DATE',1.0,'gold','quasi','gold',1,'accepted',0,5.1293294387550536495e-02,'43113f9953e91b39723264a744dbce00');
CREATE TABLE synthetic (
	run_id VARCHAR NOT NULL, 
	position INTEGER NOT NULL, 
	record_id VARCHAR NOT NULL, 
	text TEXT NOT NULL, 
	label VARCHAR, 
	lineage VARCHAR, 
	approval VARCHAR NOT NULL, 
	risk FLOAT, 
	PRIMARY KEY (run_id, position), 
	UNIQUE (run_id, record_id), 
	FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE
);
INSERT INTO "synthetic" VALUES('r-pdyry6snrf',0,'s-000001','one','knee','id0','pending',NULL);
CREATE TABLE unit_hashes (
	hash VARCHAR NOT NULL, 
	population VARCHAR NOT NULL, 
	PRIMARY KEY (hash, population), 
	FOREIGN KEY(population) REFERENCES populations (id)
)
 WITHOUT ROWID

;
INSERT INTO "unit_hashes" VALUES('0254fc282ffd8828f1a119bcf018ac9b','pop-w6d7a7rjhz');
INSERT INTO "unit_hashes" VALUES('03ea0ed863b1efefc562b5951eb29225','pop-w6d7a7rjhz');
INSERT INTO "unit_hashes" VALUES('14d33958f5f0b0797daf4006ced0b2f9','pop-w6d7a7rjhz');
INSERT INTO "unit_hashes" VALUES('1e524ef467fd82c8ba96b82a6f2833e2','pop-w6d7a7rjhz');
INSERT INTO "unit_hashes" VALUES('28c55c127ae304cc3675e3a6423f105f','pop-8tvksvq9qk');
INSERT INTO "unit_hashes" VALUES('33fd0949eafcac1cfbf8950d2fc8f268','pop-8tvksvq9qk');
INSERT INTO "unit_hashes" VALUES('6445721bac30acc9b34b400db9899ebf','pop-8tvksvq9qk');
INSERT INTO "unit_hashes" VALUES('70ce699e3db1b3bb73e99e0ef5a8a5ce','pop-8tvksvq9qk');
INSERT INTO "unit_hashes" VALUES('76cbef00072b3bc564fd9da3f6e1986e','pop-w6d7a7rjhz');
INSERT INTO "unit_hashes" VALUES('7987ce2726ce18850ece15174f8d20e2','pop-w6d7a7rjhz');
INSERT INTO "unit_hashes" VALUES('d836bc1222c98052a83a2f47175099fe','pop-8tvksvq9qk');
INSERT INTO "unit_hashes" VALUES('f0615188f7df55ac809489754ac4236c','pop-8tvksvq9qk');
CREATE INDEX ix_record_risk ON record_index (corpus_id, hazard, position);
CREATE INDEX ix_span_value ON spans (corpus_id, active, value_key, label, state, decided, position);
CREATE INDEX ix_span_record ON spans (corpus_id, active, position);
CREATE INDEX ix_decision_place ON decisions (corpus_id, position, start, "end");
CREATE INDEX ix_decision_batch ON decisions (corpus_id, batch);
CREATE INDEX ix_run_corpus ON runs (corpus_id, created);
CREATE INDEX ix_synthetic_risk ON synthetic (run_id, risk, position);
CREATE INDEX ix_job_state ON jobs (state, lane, seq);
CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;
COMMIT;
