import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { integer, octetString, oid, sequence, utf8String } from '../../../../emulator/crypto/der.ts';
import { ServiceError } from '../../../../lib/foundation/errors.ts';
import {
  parseChildren,
  parseDer,
  readInteger,
  readOctetString,
  readOid,
} from '../../../../lib/stores/app-store/der.ts';

const indefinite = (tag: number, ...content: Buffer[]): Buffer =>
  Buffer.concat([Buffer.from([tag, 0x80]), ...content, Buffer.from([0, 0])]);

describe('parseDer', () => {
  it('reads encoded values', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 31 - 1), fc.uint8Array({ maxLength: 400 }), (count, bytes) => {
        const [number, octets] = parseChildren(parseDer(sequence(integer(count), octetString(bytes))));
        expect([readInteger(number), readOctetString(octets)]).toEqual([count, Buffer.from(bytes)]);
      }),
    );
  });

  it.each(['1.2.840.113635.100.6.11.1', '2.5.29.19', '2.16.840.1.101.3.4.2.1', '1.3.14.3.2.26', '2.999.3'])(
    'reads the object identifier %s',
    (dotted) => {
      expect(readOid(parseDer(dotted === '2.999.3' ? Buffer.from('0603883703', 'hex') : oid(dotted)))).toBe(dotted);
    },
  );

  it('reads nested indefinite lengths and octet strings in several parts', () => {
    const parts = indefinite(0x24, octetString(Buffer.from('ab')), indefinite(0x24, octetString(Buffer.from('cd'))));
    const [first, second] = parseChildren(parseDer(indefinite(0x30, parts, utf8String('end'))));
    expect(readOctetString(first).toString()).toBe('abcd');
    expect(second?.content.toString()).toBe('end');
  });

  it.each([
    ['an empty buffer', ''],
    ['a tag without a length', '30'],
    ['a length beyond the end', '3005'],
    ['a length with missing bytes', '308400'],
    ['a length of 126 bytes', '30fe'],
    ['an indefinite length without end', '3080020101'],
    ['an indefinite length of a primitive value', '04800000'],
    ['a tag of more than one byte', '3f810100'],
  ])('rejects %s', (_title, hex) => {
    expect(() => parseDer(Buffer.from(hex, 'hex'))).toThrow(ServiceError);
  });

  it('rejects deep nesting before it exhausts the stack', () => {
    const deep = Buffer.alloc(200_000, Buffer.from([0x30, 0x80]));
    expect(() => parseDer(deep)).toThrow(ServiceError);
    const parts = Buffer.alloc(200_000, Buffer.from([0x24, 0x80]));
    expect(() => readOctetString(parseDer(parts))).toThrow(ServiceError);
  });

  it('rejects a value with a million children before it exhausts the memory', () => {
    const value = sequence(Buffer.alloc(2_000_000, Buffer.from([0x05, 0x00])));
    expect(() => parseChildren(parseDer(value))).toThrow(ServiceError);
  });
});
