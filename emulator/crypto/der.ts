const universal = {
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8String: 0x0c,
} as const;
const text = { printableString: 0x13, ia5String: 0x16, utcTime: 0x17, generalizedTime: 0x18 } as const;
const constructedTags = { sequence: 0x30, set: 0x31 } as const;

/** Encodes a DER element: tag, length, content. */
function element(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag]), encodeLength(body.length), body]);
}

function encodeLength(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const digits = encodeBytes(BigInt(length));
  return Buffer.from([0x80 | digits.length, ...digits]);
}

function encodeBytes(value: bigint): Buffer {
  const hex = value.toString(16);
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
}

/** SEQUENCE of the elements. */
export const sequence = (...content: readonly Uint8Array[]): Buffer => element(constructedTags.sequence, ...content);

/** SET OF the elements, sorted as DER requires (X.690, section 11.6). */
export const setOf = (...content: readonly Uint8Array[]): Buffer =>
  element(constructedTags.set, ...[...content].sort(Buffer.compare));

/** Non-negative INTEGER. */
export function integer(value: bigint | number): Buffer {
  const digits = encodeBytes(BigInt(value));
  const hasSignBit = ((digits[0] ?? 0) & 0x80) !== 0;
  return element(universal.integer, hasSignBit ? Buffer.from([0]) : Buffer.alloc(0), digits);
}

/** OCTET STRING. */
export const octetString = (content: Uint8Array): Buffer => element(universal.octetString, content);

/** BIT STRING whose last `unusedBits` bits are unused. */
export const bitString = (content: Uint8Array, unusedBits = 0): Buffer =>
  element(universal.bitString, Buffer.from([unusedBits]), content);

/** NULL. */
export const nullValue = (): Buffer => element(universal.null);

/** BOOLEAN true. */
export const booleanTrue = (): Buffer => Buffer.from([0x01, 0x01, 0xff]);

/** UTF8String. */
export const utf8String = (value: string): Buffer => element(universal.utf8String, Buffer.from(value, 'utf8'));

/** PrintableString; the value must consist of letters and digits. */
export const printableString = (value: string): Buffer => element(text.printableString, Buffer.from(value, 'latin1'));

/** IA5String; the value must be ASCII. */
export const ia5String = (value: string): Buffer => element(text.ia5String, Buffer.from(value, 'latin1'));

/** `[number] EXPLICIT`. */
export const explicit = (number: number, content: Uint8Array): Buffer => element(0xa0 | number, content);

/** `[number] IMPLICIT` of an octet string. */
export const implicit = (number: number, content: Uint8Array): Buffer => element(0x80 | number, content);

/** OBJECT IDENTIFIER from dotted notation. */
export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(universal.oid, Buffer.from([first * 40 + second, ...rest.flatMap(encodeBase128)]));
}

function encodeBase128(arc: number): number[] {
  const digits = [arc & 0x7f];
  for (let rest = arc >>> 7; rest > 0; rest >>>= 7) digits.unshift((rest & 0x7f) | 0x80);
  return digits;
}

/** Time of a certificate: UTCTime until 2049, GeneralizedTime afterwards (RFC 5280, section 4.1.2.5). */
export function certificateTime(at: Date): Buffer {
  const digits = `${at.toISOString().replace(/\D/g, '').slice(0, 14)}Z`;
  return at.getUTCFullYear() < 2050
    ? element(text.utcTime, Buffer.from(digits.slice(2)))
    : element(text.generalizedTime, Buffer.from(digits));
}
