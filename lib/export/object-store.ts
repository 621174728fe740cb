import type { Readable } from 'node:stream';

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
