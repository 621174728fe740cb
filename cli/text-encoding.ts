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
