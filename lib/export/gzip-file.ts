import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

/** A file of compressed JSON lines that is written. */
export interface GzipFile {
  write(rows: readonly object[]): Promise<void>;
  /** Ends the file. */
  end(): Promise<void>;
  /** Deletes the file. */
  remove(): Promise<void>;
}

/** Exports contain personal data: only the owner can read the file. */
export const fileMode = 0o600;

/** Opens a file of compressed JSON lines. */
export function openGzipFile(path: string): GzipFile {
  const gzip = createGzip();
  const written = pipeline(gzip, createWriteStream(path, { mode: fileMode }));
  // A failed write is reported by the next call, and must not end the process before.
  written.catch(() => undefined);
  return {
    async write(rows) {
      if (rows.length === 0) return;
      const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
      await Promise.race([new Promise<void>((resolve) => gzip.write(text, () => resolve())), written]);
    },
    async end() {
      gzip.end();
      await written;
    },
    async remove() {
      gzip.destroy();
      await written.catch(() => undefined);
      await rm(path, { force: true });
    },
  };
}
