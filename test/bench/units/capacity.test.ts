import { describe, expect, it } from '@jest/globals';
import {
  countIndexUnits,
  countItemReadUnits,
  countQueryUnits,
  countTableUnits,
} from '../../../bench/units/capacity.ts';
import type { ItemImage } from '../../../bench/units/item-size.ts';

/** Creates an item of a size in bytes. */
const createItem = (bytes: number): ItemImage => ({ pk: { S: 'x'.repeat(bytes - 2) } });
const kb = 1024;
const singleWrite = { inTransaction: false };
const transaction = { inTransaction: true };

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
describe('countTableUnits', () => {
  it('counts one unit for each KB, rounded up', () => {
    expect(countTableUnits({ after: createItem(500) }, singleWrite)).toBe(1);
    expect(countTableUnits({ after: createItem(kb) }, singleWrite)).toBe(1);
    expect(countTableUnits({ after: createItem(kb + 1) }, singleWrite)).toBe(2);
  });

  it('counts twice as much in a transaction', () => {
    expect(countTableUnits({ after: createItem(500) }, transaction)).toBe(2);
    expect(countTableUnits({ after: createItem(3 * kb) }, transaction)).toBe(6);
  });

  it('counts the larger of the old and the new item', () => {
    expect(countTableUnits({ before: createItem(3 * kb), after: createItem(100) }, singleWrite)).toBe(3);
    expect(countTableUnits({ before: createItem(100), after: createItem(2 * kb) }, singleWrite)).toBe(2);
  });

  it('counts the old item for a deletion, and one unit if the item does not exist', () => {
    expect(countTableUnits({ before: createItem(2 * kb) }, singleWrite)).toBe(2);
    expect(countTableUnits({}, singleWrite)).toBe(1);
  });
});

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.ThroughputConsiderations
describe('countIndexUnits', () => {
  const unlistedItem: ItemImage = { pk: { S: 'a#P#1' }, sk: { S: 'P' }, text: { S: 'first' } };
  const createListedItem = (createdSk: string): ItemImage => ({
    ...unlistedItem,
    createdPk: { S: 'a#P' },
    createdSk: { S: createdSk },
  });

  it('counts one write for an item that is added to an index or removed from it', () => {
    expect(countIndexUnits({ after: createListedItem('1') })).toBe(1);
    expect(countIndexUnits({ before: unlistedItem, after: createListedItem('1') })).toBe(1);
    expect(countIndexUnits({ before: createListedItem('1'), after: unlistedItem })).toBe(1);
    expect(countIndexUnits({ before: createListedItem('1') })).toBe(1);
  });

  it('counts two writes for a changed key: the old entry is deleted and the new entry is put', () => {
    expect(countIndexUnits({ before: createListedItem('1'), after: createListedItem('2') })).toBe(2);
  });

  it('counts nothing for an item without the keys of an index', () => {
    expect(countIndexUnits({ before: unlistedItem, after: { ...unlistedItem, text: { S: 'second' } } })).toBe(0);
    expect(countIndexUnits({ after: { ...unlistedItem, createdPk: { S: 'only half of its key' } } })).toBe(0);
  });

  it('counts nothing if only other attributes change', () => {
    expect(
      countIndexUnits({
        before: createListedItem('1'),
        after: { ...createListedItem('1'), text: { S: 'x'.repeat(5000) } },
      }),
    ).toBe(0);
  });

  it('counts each index separately, independent of the size of the item', () => {
    const everywhere = {
      ...createListedItem('1'),
      keyPk: { S: 'k' },
      keySk: { S: '1' },
      duePk: { S: 'd' },
      dueSk: { S: '1' },
    };
    expect(countIndexUnits({ after: { ...everywhere, text: { S: 'x'.repeat(5000) } } })).toBe(3);
  });
});

// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
describe('countItemReadUnits and countQueryUnits', () => {
  const consistent = { isConsistent: true };
  const eventual = { isConsistent: false };

  it('counts two units for an item of 8 KB, and one for an eventually consistent read', () => {
    expect(countItemReadUnits(createItem(8 * kb), consistent)).toBe(2);
    expect(countItemReadUnits(createItem(8 * kb), eventual)).toBe(1);
  });

  it('counts one unit for 3,500 bytes, 4 KB and a missing item', () => {
    expect(countItemReadUnits(createItem(3500), consistent)).toBe(1);
    expect(countItemReadUnits(createItem(4 * kb), consistent)).toBe(1);
    expect(countItemReadUnits(undefined, consistent)).toBe(1);
  });

  it('rounds up the total size of a query once', () => {
    const items = Array.from({ length: 17 }, () => createItem(1000));
    expect(countQueryUnits(items, consistent)).toBe(5);
    expect(countQueryUnits(items, eventual)).toBe(2.5);
    expect(countQueryUnits([], consistent)).toBe(1);
  });
});
