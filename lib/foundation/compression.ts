// `node:zlib` is imported when it is used: most functions neither write nor read compressed content.

/** Compresses the JSON text of `content` with Brotli. */
export async function compressJson(content: object): Promise<Buffer> {
  const { brotliCompressSync, constants } = await import('node:zlib');
  return brotliCompressSync(JSON.stringify(content), { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
}

/** Decompresses a text. Returns an empty text for a value that is not binary. */
export async function decompressText(value: unknown): Promise<string> {
  const { brotliDecompressSync } = await import('node:zlib');
  return value instanceof Uint8Array ? brotliDecompressSync(value).toString('utf8') : '';
}

/** Compresses the JSON text of `content` with a preset dictionary, which makes small documents much smaller. */
export async function deflateJson(content: object, dictionary: Uint8Array): Promise<Buffer> {
  const { deflateRawSync } = await import('node:zlib');
  return deflateRawSync(JSON.stringify(content), { dictionary });
}

/** Decompresses a text that `deflateJson` has compressed with the same dictionary. */
export async function inflateText(compressed: Uint8Array, dictionary: Uint8Array): Promise<string> {
  const { inflateRawSync } = await import('node:zlib');
  return inflateRawSync(compressed, { dictionary }).toString('utf8');
}
