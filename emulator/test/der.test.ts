import { describe, expect, it, test } from '@jest/globals';
import fc from 'fast-check';
import { certificateTime, integer, octetString, oid, sequence, setOf } from '../crypto/der.ts';
import { findDerElement, parseDerElements } from '../crypto/parse-der.ts';

describe('DER encoding', () => {
  it('encodes integers in the shortest form and as non-negative', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 200n }), (value) => {
        const { content } = findDerElement(integer(value), [0]);
        expect(BigInt(`0x${content.toString('hex')}`)).toBe(value);
        expect((content[0] ?? 0) < 0x80).toBe(true);
        expect(content[0] === 0 && content.length > 1 && (content[1] ?? 0) < 0x80).toBe(false);
      }),
    );
  });

  it('parses its own output of any length', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 300 }), (contents) => {
        const encoded = sequence(...contents.map(octetString));
        const read = parseDerElements(findDerElement(encoded, [0]).content).map(
          ({ content }) => new Uint8Array(content),
        );
        expect(read).toEqual(contents);
      }),
      { numRuns: 30 },
    );
  });

  it('encodes a set independently of the order of its elements', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 9 })), (contents) => {
        const members = contents.map(octetString);
        expect(setOf(...members)).toEqual(setOf(...[...members].reverse()));
      }),
    );
  });

  test.each([
    ['1.2.840.113549.1.7.2', '06092a864886f70d010702'],
    ['1.2.840.113635.100.6.11.1', '060a2a864886f76364060b01'],
    ['2.5.4.3', '0603550403'],
  ])('encodes the object identifier %s', (dotted, hex) => {
    expect(oid(dotted).toString('hex')).toBe(hex);
  });

  test.each([
    ['2049-12-31T23:59:59Z', 0x17, '491231235959Z'],
    ['2050-01-01T00:00:00Z', 0x18, '20500101000000Z'],
  ])('encodes the certificate time %s', (time, tag, digits) => {
    const element = findDerElement(certificateTime(new Date(time)), [0]);
    expect({ tag: element.tag, text: element.content.toString() }).toEqual({ tag, text: digits });
  });

  test.each(['30', '3005', '3080020101', '30840fffffff02', '308800ffffffffffffff'])('rejects %s', (hex) => {
    expect(() => parseDerElements(Buffer.from(hex, 'hex'))).toThrow(RangeError);
  });
});
