import { describe, expect, it } from '@jest/globals';
import { createSeenRows } from '../../../cli/import/seen-rows.ts';

describe('createSeenRows', () => {
  it('recognizes a repeated row, and distinguishes rows of other users', () => {
    const { add } = createSeenRows();
    const rows = ['ann', 'bob', 'ann'].map((user) => ({ platform: 'store_a', token: '1', user }));
    expect(rows.map(add)).toEqual([false, false, true]);
  });

  it('drops the oldest rows beyond its limit', () => {
    const { add } = createSeenRows(4);
    const add5 = () => ['1', '2', '3', '4', '5'].map((token) => add({ token }));
    expect(add5()).toEqual([false, false, false, false, false]);
    expect(add({ token: '5' })).toBe(true);
    expect(add({ token: '1' })).toBe(false);
  });
});
