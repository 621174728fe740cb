import { createReadStream } from 'node:fs';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { describeFileError } from '../describe-file-error.ts';
import { createDecoder, detectEncoding, findUndecodableLine, type TextEncoding } from '../text-encoding.ts';

/** Maximum length of a row. More than a receipt of 2 MB with quotes. */
export const maxRowLength = 4_000_000;

export interface Line {
  /** Without the line feed. A carriage return at its end stays. */
  readonly text: string;
  /** 1 for the first line. */
  readonly number: number;
  /** Position of the next line in the file, in bytes. */
  readonly endByte: number;
}

/**
 * Reads a file line by line in constant memory: UTF-8, or UTF-16 with a byte order mark, which is omitted. Only a line
 * feed ends a line, because usernames can contain the other separators of Unicode. Throws `InvalidPayload` if the file
 * cannot be read, is not in its encoding or has a line beyond the limit.
 */
export async function* readLines(path: string): AsyncGenerator<Line> {
  let encoding: TextEncoding | undefined;
  let decoder: TextDecoder | undefined;
  let rest = '';
  let number = 0;
  let endByte = 0;
  const toLine = (text: string, hasLineFeed: boolean): Line => {
    endByte += countBytes(text, encoding) + (hasLineFeed ? countBytes('\n', encoding) : 0);
    return { text, number: ++number, endByte };
  };
  for await (const chunk of readChunks(path)) {
    if (!encoding || !decoder) {
      encoding = detectEncoding(chunk);
      decoder = createDecoder(encoding);
      endByte = countMarkBytes(chunk, encoding);
    }
    rest += decode(decoder, chunk, { path, number, encoding });
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const text of lines) yield toLine(text, true);
    if (rest.length > maxRowLength)
      throw new ServiceError('InvalidPayload', `Line ${number + 1} of ${path} is too long: expected at most 4 MB.`);
  }
  if (decoder && encoding) rest += decode(decoder, undefined, { path, number, encoding });
  if (rest !== '') yield toLine(rest, false);
}

const countBytes = (text: string, encoding: TextEncoding = 'utf-8'): number =>
  encoding === 'utf-8' ? Buffer.byteLength(text) : 2 * text.length;

/** Returns the length of the byte order mark, which the decoder omits. */
function countMarkBytes(start: Uint8Array, encoding: TextEncoding): number {
  if (encoding !== 'utf-8') return 2;
  return start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf ? 3 : 0;
}

async function* readChunks(path: string): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(path) as AsyncIterable<Buffer>;
  } catch (cause) {
    throw new ServiceError('InvalidPayload', `${path} ${describeFileError(cause)}.`);
  }
}

interface Position {
  readonly path: string;
  /** Number of lines before. */
  readonly number: number;
  readonly encoding: TextEncoding;
}

/** Decodes a chunk, or without one the end of the file. */
function decode(decoder: TextDecoder, chunk: Buffer | undefined, { path, number, encoding }: Position): string {
  try {
    return decoder.decode(chunk, { stream: chunk !== undefined });
  } catch {
    const place = encoding === 'utf-8' && chunk ? ` near line ${number + findUndecodableLine(chunk)}` : '';
    throw new ServiceError('InvalidPayload', `${path} is not ${encoding.toUpperCase()}${place}. Save it as UTF-8.`);
  }
}
