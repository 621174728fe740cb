import type { Readable } from 'node:stream';
import type { ExportState } from './export-state.ts';

/** A file of an export. It exists as a whole or not at all. */
export interface ExportFile {
  write(rows: readonly object[]): Promise<void>;
  /** Completes the file and replaces an earlier one with its path. */
  close(): Promise<void>;
  /** Deletes what was written. */
  discard(): Promise<void>;
}

/** The place that receives the exports of one app: a folder, or a prefix of a bucket. */
export interface ExportTarget {
  /** Returns undefined before the first export. */
  readState(): Promise<ExportState | undefined>;
  writeState(state: ExportState): Promise<void>;
  /** Opens a file of compressed JSON lines. The path is relative to the target, with `/` between its parts. */
  openFile(path: string): Promise<ExportFile>;
}

/** A target whose files can be read again. */
export interface ExportStorage extends ExportTarget {
  /** Lists the paths of the files, in the order of the days. */
  listFiles(): Promise<string[]>;
  readFile(path: string): Promise<Readable>;
}

/** Amazon S3. Each call throws `Forbidden` without the permission, and `ConnectionFailed` if S3 fails. */
export interface ObjectStore {
  /** Throws `ResourceNotFound` for a missing object. */
  get(bucket: string, key: string): Promise<Readable>;
  put(bucket: string, key: string, content: string): Promise<void>;
  /** Uploads a file of the file system. */
  putFile(bucket: string, key: string, file: string): Promise<void>;
  /** Lists the keys that start with a prefix. */
  list(bucket: string, prefix: string): Promise<string[]>;
}
