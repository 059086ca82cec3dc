-- Earlier programs kept tasks in the data file too. What they said is in the documents.
DROP TABLE IF EXISTS river_client_queue;
DROP TABLE IF EXISTS river_client;
DROP TABLE IF EXISTS river_job;
DROP TABLE IF EXISTS river_leader;
DROP TABLE IF EXISTS river_queue;
DROP TABLE IF EXISTS river_migration;
