import { describe, expect, it } from '@jest/globals';
import { countItemBytes } from '../../../bench/units/item-size.ts';

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
describe('countItemBytes', () => {
  it('counts a string and its name in UTF-8', () => {
    expect(countItemBytes({ pk: { S: 'abc' } })).toBe(5);
    expect(countItemBytes({ é: { S: '日本' } })).toBe(8);
  });

  it.each([
    ['0', 1],
    ['5', 2],
    ['42', 2],
    ['123', 3],
    ['0.00123', 3],
    ['1200000', 2],
    ['1800000000123', 8],
    ['12.50', 3],
    ['1E+20', 2],
    ['-42', 3],
  ])('counts the number %s as %d bytes', (number, bytes) => {
    expect(countItemBytes({ n: { N: number } })).toBe(1 + bytes);
  });

  it('counts a binary value by its raw bytes', () => {
    expect(countItemBytes({ b: { B: Buffer.alloc(30).toString('base64') } })).toBe(31);
  });

  it('counts a boolean and null as one byte', () => {
    expect(countItemBytes({ ok: { BOOL: true }, no: { NULL: true } })).toBe(6);
  });

  it('counts three bytes for an empty list or map', () => {
    expect(countItemBytes({ list: { L: [] }, map: { M: {} } })).toBe(4 + 3 + 3 + 3);
  });

  it('counts one more byte for each element of a list or map', () => {
    expect(countItemBytes({ l: { L: [{ S: 'ab' }, { BOOL: true }] } })).toBe(1 + 3 + (1 + 2) + (1 + 1));
    expect(countItemBytes({ m: { M: { name: { S: 'ann' } } } })).toBe(1 + 3 + 1 + 4 + 3);
  });

  it('counts the members of sets', () => {
    expect(countItemBytes({ s: { SS: ['a', 'bc'] }, n: { NS: ['1', '22'] }, b: { BS: ['AAAA'] } })).toBe(4 + 5 + 4);
  });
});
