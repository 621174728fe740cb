/** What is compressed in an item. The compressor is loaded when it is needed: most functions only read and count. */
export async function compressJson(content: object): Promise<Buffer> {
  const { brotliCompressSync, constants } = await import('node:zlib');
  return brotliCompressSync(JSON.stringify(content), { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
}

/** The JSON text of what was packed; empty for anything else. */
export async function decompressText(value: unknown): Promise<string> {
  const { brotliDecompressSync } = await import('node:zlib');
  return value instanceof Uint8Array ? brotliDecompressSync(value).toString('utf8') : '';
}
