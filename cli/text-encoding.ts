import { isUtf8 } from 'node:buffer';

/** The encodings of files that programs write: PowerShell writes UTF-16 with a byte order mark. */
export type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be';

/** Detects the encoding from the byte order mark at the start of a file. UTF-8 without one. */
export function detectEncoding(start: Uint8Array): TextEncoding {
  const [first, second] = start;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

/** Creates a decoder that omits the byte order mark and throws a `TypeError` for bytes that are not of the encoding. */
export const createDecoder = (encoding: TextEncoding): TextDecoder => new TextDecoder(encoding, { fatal: true });

/** Returns the number of the first line that is not UTF-8. */
export function findUndecodableLine(bytes: Buffer): number {
  let line = 1;
  for (let start = 0; ; line += 1) {
    const end = bytes.indexOf('\n', start);
    if (end < 0 || !isUtf8(bytes.subarray(start, end))) return line;
    start = end + 1;
  }
}
