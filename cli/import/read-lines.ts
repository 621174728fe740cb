import { createReadStream } from 'node:fs';
import { ServiceError } from '../../lib/shared/errors.ts';

/** Maximum length of a row. More than a receipt of 2 MB with quotes. */
export const maxRowLength = 4_000_000;

export interface Line {
  /** Without the line feed. A carriage return at its end stays. */
  readonly text: string;
  /** 1 for the first line. */
  readonly number: number;
}

/** A file that is read line by line. */
export interface LineSource {
  readonly lines: AsyncIterable<Line>;
  /** Number of bytes read so far. */
  readonly countBytes: () => number;
}

/**
 * Reads a UTF-8 file line by line in constant memory and ignores its byte order mark. Only a line feed ends a line,
 * because usernames can contain the other separators of Unicode. Throws `InvalidPayload` if the file cannot be read, is
 * not UTF-8 or has a line beyond the limit.
 */
export function readLines(path: string): LineSource {
  let bytes = 0;
  async function* splitLines(): AsyncGenerator<Line> {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    let rest = '';
    let number = 0;
    for await (const chunk of readChunks(path)) {
      bytes += chunk.byteLength;
      rest += decode(() => decoder.decode(chunk, { stream: true }), number);
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      for (const text of lines) yield { text, number: ++number };
      if (rest.length > maxRowLength)
        throw new ServiceError('InvalidPayload', `Line ${number + 1} is too long: expected at most 4 MB.`);
    }
    rest += decode(() => decoder.decode(), number);
    if (rest !== '') yield { text: rest, number: number + 1 };
  }
  return { lines: splitLines(), countBytes: () => bytes };
}

async function* readChunks(path: string): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(path) as AsyncIterable<Buffer>;
  } catch (cause) {
    throw new ServiceError('InvalidPayload', `The file ${path} cannot be read.`, { cause });
  }
}

function decode(run: () => string, number: number): string {
  try {
    return run();
  } catch (cause) {
    throw new ServiceError('InvalidPayload', `The file is not UTF-8 after line ${number}. Save it as UTF-8.`, {
      cause,
    });
  }
}
