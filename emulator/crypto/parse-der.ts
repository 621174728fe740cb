/** One DER element: its tag, its content, and all of it. */
export interface DerElement {
  readonly tag: number;
  readonly content: Buffer;
  readonly raw: Buffer;
}

/** The elements that stand one after another in `data`; throws a `RangeError` when they do not fill it exactly. */
export function parseDerElements(data: Buffer): DerElement[] {
  const elements: DerElement[] = [];
  for (let offset = 0; offset < data.length; ) {
    const { start, end } = boundsAt(data, offset);
    elements.push({ tag: data[offset] ?? 0, content: data.subarray(start, end), raw: data.subarray(offset, end) });
    offset = end;
  }
  return elements;
}

/** The element at the end of a path of positions, for example `[1, 0]` for the first child of the second. */
export function findDerElement(data: Buffer, path: readonly number[]): DerElement {
  const [first = 0, ...rest] = path;
  const element = parseDerElements(data).at(first);
  if (element === undefined) throw new RangeError('DER: an element is missing');
  return rest.length === 0 ? element : findDerElement(element.content, rest);
}

function boundsAt(data: Buffer, offset: number): { start: number; end: number } {
  const first = data[offset + 1];
  if (first === undefined || first === 0x80 || first > 0x84)
    throw new RangeError('DER: a length is missing or strange');
  const start = offset + 2 + (first > 0x80 ? first - 0x80 : 0);
  const length = first > 0x80 ? Number(`0x${data.subarray(offset + 2, start).toString('hex')}`) : first;
  if (!(start + length <= data.length)) throw new RangeError('DER: an element is longer than what holds it');
  return { start, end: start + length };
}
