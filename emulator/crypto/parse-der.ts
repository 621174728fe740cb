/** DER element. `raw` includes tag and length. */
export interface DerElement {
  readonly tag: number;
  readonly content: Buffer;
  readonly raw: Buffer;
}

/** Parses consecutive DER elements. Throws `RangeError` if they do not fill `data` exactly. */
export function parseDerElements(data: Buffer): DerElement[] {
  const elements: DerElement[] = [];
  for (let offset = 0; offset < data.length; ) {
    const { start, end } = findContentBounds(data, offset);
    elements.push({ tag: data[offset] ?? 0, content: data.subarray(start, end), raw: data.subarray(offset, end) });
    offset = end;
  }
  return elements;
}

/**
 * Finds an element by a path of indexes: `[1, 0]` is the first child of the second element. Throws `RangeError` if it
 * is missing.
 */
export function findDerElement(data: Buffer, path: readonly number[]): DerElement {
  const [first = 0, ...rest] = path;
  const element = parseDerElements(data).at(first);
  if (element === undefined) throw new RangeError('DER: an element is missing');
  return rest.length === 0 ? element : findDerElement(element.content, rest);
}

function findContentBounds(data: Buffer, offset: number): { start: number; end: number } {
  const first = data[offset + 1];
  if (first === undefined || first === 0x80 || first > 0x84)
    throw new RangeError('DER: a length is missing or invalid');
  const start = offset + 2 + (first > 0x80 ? first - 0x80 : 0);
  const length = first > 0x80 ? Number(`0x${data.subarray(offset + 2, start).toString('hex')}`) : first;
  if (!(start + length <= data.length)) throw new RangeError('DER: an element exceeds its container');
  return { start, end: start + length };
}
