import { ServiceError } from '../../foundation/errors.ts';

/** A DER or BER value. `content` is not parsed. */
export interface DerValue {
  /** Identifier octet: class, constructed bit and tag number. */
  readonly tag: number;
  readonly content: Buffer;
  /** The complete encoding, including tag and length. */
  readonly encoded: Buffer;
}

/** Identifier octets used in certificates and receipts. */
export const derTags = {
  integer: 0x02,
  octetString: 0x04,
  oid: 0x06,
  sequence: 0x30,
  set: 0x31,
  constructedOctetString: 0x24,
  context0: 0xa0,
  context3: 0xa3,
} as const;

const constructedBit = 0x20;
const indefinite = 0x80;
const endOfContentsLength = 2;

/** Real receipts have 8 levels and at most some thousand purchases. The limits protect the stack and the memory. */
const maxDepth = 32;
const maxChildren = 10_000;

/** Parses the first value. Throws `InvalidPayload` if it is neither DER nor BER. */
export const parseDer = (bytes: Buffer): DerValue => readAt(bytes, 0, 0).value;

/** Parses the values in a constructed value. */
export function parseChildren({ tag, content }: DerValue): DerValue[] {
  if ((tag & constructedBit) === 0) throw malformedError();
  const children: DerValue[] = [];
  for (let offset = 0; offset < content.length; ) {
    const { value, end } = readAt(content, offset, 0);
    if (children.push(value) > maxChildren) throw malformedError();
    offset = end;
  }
  return children;
}

/** Returns the value. Throws `InvalidPayload` if it is missing or has another tag. */
export function expectTag(value: DerValue | undefined, tag: number): DerValue {
  if (value?.tag !== tag) throw malformedError();
  return value;
}

/** Returns the bytes of an OCTET STRING. In BER they can be split into several values. */
export function readOctetString(value: DerValue | undefined, depth = 0): Buffer {
  if (value?.tag === derTags.octetString) return value.content;
  if (value?.tag !== derTags.constructedOctetString || depth > maxDepth) throw malformedError();
  return Buffer.concat(parseChildren(value).map((part) => readOctetString(part, depth + 1)));
}

/** Reads an INTEGER of at most 6 bytes. */
export function readInteger(value: DerValue | undefined): number {
  const { content } = expectTag(value, derTags.integer);
  if (content.length === 0 || content.length > 6) throw malformedError();
  return content.readIntBE(0, content.length);
}

/** Reads an OBJECT IDENTIFIER in dotted notation. */
export function readOid(value: DerValue | undefined): string {
  const { content } = expectTag(value, derTags.oid);
  const arcs: number[] = [];
  let arc = 0;
  for (const byte of content) {
    arc = arc * 128 + (byte & 0x7f);
    if (byte >= 0x80) continue;
    arcs.push(arc);
    arc = 0;
  }
  const [first = 0, ...rest] = arcs;
  const root = Math.min(2, Math.floor(first / 40));
  return [root, first - root * 40, ...rest].join('.');
}

interface ParsedValue {
  readonly value: DerValue;
  /** Offset of the next value. */
  readonly end: number;
}

function readAt(bytes: Buffer, offset: number, depth: number): ParsedValue {
  const tag = bytes[offset];
  const length = bytes[offset + 1];
  if (tag === undefined || length === undefined || (tag & 0x1f) === 0x1f || depth > maxDepth) throw malformedError();
  if (length === indefinite) return readIndefinite(bytes, offset, depth);
  const start = offset + 2 + (length > indefinite ? length - indefinite : 0);
  const end = start + (length > indefinite ? readLongLength(bytes.subarray(offset + 2, start)) : length);
  if (end > bytes.length) throw malformedError();
  return { value: { tag, content: bytes.subarray(start, end), encoded: bytes.subarray(offset, end) }, end };
}

function readIndefinite(bytes: Buffer, offset: number, depth: number): ParsedValue {
  const tag = bytes[offset] ?? 0;
  if ((tag & constructedBit) === 0) throw malformedError();
  const start = offset + 2;
  let position = start;
  while (bytes[position] !== 0 || bytes[position + 1] !== 0) position = readAt(bytes, position, depth + 1).end;
  const end = position + endOfContentsLength;
  return { value: { tag, content: bytes.subarray(start, position), encoded: bytes.subarray(offset, end) }, end };
}

function readLongLength(digits: Buffer): number {
  if (digits.length === 0 || digits.length > 4) throw malformedError();
  return digits.readUIntBE(0, digits.length);
}

const malformedError = (): ServiceError =>
  new ServiceError('InvalidPayload', 'The receipt or one of its certificates is not valid DER.');
