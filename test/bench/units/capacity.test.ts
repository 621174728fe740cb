import { describe, expect, it } from '@jest/globals';
import {
  countIndexUnits,
  countItemReadUnits,
  countQueryUnits,
  countTableUnits,
} from '../../../bench/units/capacity.ts';
import type { ItemImage } from '../../../bench/units/item-size.ts';

/** An item of a number of bytes. */
const sized = (bytes: number): ItemImage => ({ pk: { S: 'x'.repeat(bytes - 2) } });
const kb = 1024;
const alone = { inTransaction: false };
const together = { inTransaction: true };

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
describe('a write', () => {
  it('costs one unit for each KB, rounded up', () => {
    expect(countTableUnits({ after: sized(500) }, alone)).toBe(1);
    expect(countTableUnits({ after: sized(kb) }, alone)).toBe(1);
    expect(countTableUnits({ after: sized(kb + 1) }, alone)).toBe(2);
  });

  it('costs twice as much in a transaction', () => {
    expect(countTableUnits({ after: sized(500) }, together)).toBe(2);
    expect(countTableUnits({ after: sized(3 * kb) }, together)).toBe(6);
  });

  it('is charged by the larger of what was there and what is there then', () => {
    expect(countTableUnits({ before: sized(3 * kb), after: sized(100) }, alone)).toBe(3);
    expect(countTableUnits({ before: sized(100), after: sized(2 * kb) }, alone)).toBe(2);
  });

  it('that deletes costs what was there, and one unit when nothing was', () => {
    expect(countTableUnits({ before: sized(2 * kb) }, alone)).toBe(2);
    expect(countTableUnits({}, alone)).toBe(1);
  });
});

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.ThroughputConsiderations
describe('an index', () => {
  const plain: ItemImage = { pk: { S: 'a#P#1' }, sk: { S: 'P' }, text: { S: 'one' } };
  const listed = (createdSk: string): ItemImage => ({ ...plain, createdPk: { S: 'a#P' }, createdSk: { S: createdSk } });

  it('costs one write for an item that comes into it, and one for an item that leaves it', () => {
    expect(countIndexUnits({ after: listed('1') })).toBe(1);
    expect(countIndexUnits({ before: plain, after: listed('1') })).toBe(1);
    expect(countIndexUnits({ before: listed('1'), after: plain })).toBe(1);
    expect(countIndexUnits({ before: listed('1') })).toBe(1);
  });

  it('costs two writes when its key changes: one entry is deleted, another put', () => {
    expect(countIndexUnits({ before: listed('1'), after: listed('2') })).toBe(2);
  });

  it('costs nothing for an item that is not in it, before or after', () => {
    expect(countIndexUnits({ before: plain, after: { ...plain, text: { S: 'two' } } })).toBe(0);
    expect(countIndexUnits({ after: { ...plain, createdPk: { S: 'only half of its key' } } })).toBe(0);
  });

  it('costs nothing when only what it does not hold changes', () => {
    expect(countIndexUnits({ before: listed('1'), after: { ...listed('1'), text: { S: 'x'.repeat(5000) } } })).toBe(0);
  });

  it('is charged for each index by itself, however large the item is', () => {
    const everywhere = { ...listed('1'), keyPk: { S: 'k' }, keySk: { S: '1' }, duePk: { S: 'd' }, dueSk: { S: '1' } };
    expect(countIndexUnits({ after: { ...everywhere, text: { S: 'x'.repeat(5000) } } })).toBe(3);
  });
});

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
describe('a read', () => {
  const consistent = { isConsistent: true };
  const eventual = { isConsistent: false };

  it('of an item of 8 KB costs two units, and one where the answer may be a moment behind', () => {
    expect(countItemReadUnits(sized(8 * kb), consistent)).toBe(2);
    expect(countItemReadUnits(sized(8 * kb), eventual)).toBe(1);
  });

  it('of 3,500 bytes costs the same as one of 4 KB, and so does one that finds nothing', () => {
    expect(countItemReadUnits(sized(3500), consistent)).toBe(1);
    expect(countItemReadUnits(sized(4 * kb), consistent)).toBe(1);
    expect(countItemReadUnits(undefined, consistent)).toBe(1);
  });

  it('of a range is rounded up once, for all items together', () => {
    const items = Array.from({ length: 17 }, () => sized(1000));
    expect(countQueryUnits(items, consistent)).toBe(5);
    expect(countQueryUnits(items, eventual)).toBe(2.5);
    expect(countQueryUnits([], consistent)).toBe(1);
  });
});
