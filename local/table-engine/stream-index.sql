-- Creates stream-index.db, with which Dynoxide starts: sqlite3 stream-index.db < stream-index.sql
-- Dynoxide 1.2.1 searches all stream records for each write and each read of the stream, and never deletes them. The table
-- is that of Dynoxide, which creates its tables only if they do not exist.
CREATE TABLE _stream_records (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  table_name TEXT NOT NULL,
  event_name TEXT NOT NULL,
  keys_json TEXT NOT NULL,
  new_image TEXT,
  old_image TEXT,
  sequence_number TEXT NOT NULL,
  shard_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  user_identity TEXT
);
CREATE INDEX _stream_sequences ON _stream_records (table_name, CAST(sequence_number AS INTEGER));
CREATE INDEX _stream_positions ON _stream_records (table_name, shard_id, CAST(sequence_number AS INTEGER));
CREATE INDEX _stream_times ON _stream_records (created_at);
-- DynamoDB keeps stream records for 24 hours.
CREATE TRIGGER _stream_retention AFTER INSERT ON _stream_records
BEGIN
  DELETE FROM _stream_records WHERE created_at < NEW.created_at - 86400;
END;
