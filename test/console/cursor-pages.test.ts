import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  addNewestPage,
  addOlderPage,
  type CursorPage,
  hasGap,
  loadPages,
  maxAutomaticPages,
} from '../../console/api/cursor-pages.ts';

/** Ids of rows: a higher number is newer. */
type Page = CursorPage<number>;
const getId = String;
const addNewest = (loaded: Page, newest: Page) => addNewestPage(loaded, newest, getId);
const addOlder = (loaded: Page, page: Page) => addOlderPage(loaded, page, getId);

/** Reads a page of `limit` entries like the service. Multiples of three are reads, which lack a row. */
function readPage(list: readonly number[], limit: number, cursor?: string): Page {
  const start = cursor === undefined ? 0 : list.findIndex((row) => row < Number(cursor));
  const entries = start === -1 ? [] : list.slice(start, start + limit);
  const last = entries.at(-1);
  const isLastPage = start === -1 || start + limit >= list.length;
  return {
    rows: entries.filter((row) => row % 3 !== 0),
    ...(!isLastPage && last !== undefined && { nextCursor: String(last) }),
  };
}

describe('addNewestPage', () => {
  it('keeps the rows that new rows push out of the newest page', () => {
    const loaded = addOlder({ rows: [5, 4, 3], nextCursor: '3' }, { rows: [2, 1], nextCursor: '1' });
    const merged = addNewest(loaded, { rows: [7, 6, 5], nextCursor: '5' });
    expect(merged).toEqual({ rows: [7, 6, 5, 4, 3, 2, 1], nextCursor: '1' });
    expect(addNewest(merged, { rows: [8, 7, 6], nextCursor: '6' }).rows).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
  });

  it('keeps the cursor of the loaded rows if the newest page ends with the same row', () => {
    expect(addNewest({ rows: [2, 1], nextCursor: 'deep' }, { rows: [3, 2, 1], nextCursor: 'shallow' })).toEqual({
      rows: [3, 2, 1],
      nextCursor: 'deep',
    });
  });

  it('keeps the loaded rows if the newest page has read only hidden entries', () => {
    const loaded = { rows: [2, 1], nextCursor: '1' };
    expect(addNewest(loaded, { rows: [], nextCursor: '9' })).toBe(loaded);
  });

  it('removes a row that its page no longer has, and adds a row that became visible late', () => {
    const loaded = { rows: [6, 5, 3, 2, 1], nextCursor: '1' };
    expect(addNewest(loaded, { rows: [6, 4, 3], nextCursor: '3' }).rows).toEqual([6, 4, 3, 2, 1]);
  });

  it('returns only the newest page if rows can be missing behind it', () => {
    const [loaded, newest] = [
      { rows: [2, 1], nextCursor: '1' },
      { rows: [9, 8], nextCursor: '8' },
    ];
    expect(hasGap(loaded, newest, getId)).toBe(true);
    expect(addNewest(loaded, newest)).toEqual(newest);
  });

  it('returns only the newest page if it is the whole list', () => {
    expect(addNewest({ rows: [2, 1], nextCursor: '1' }, { rows: [2] })).toEqual({ rows: [2] });
  });

  it('keeps older rows behind a page that ends at a start date', () => {
    const loaded = { rows: [3, 2, 1], nextCursor: '1' };
    expect(addNewest(loaded, { rows: [4, 3], isRecent: true })).toEqual({ rows: [4, 3, 2, 1], nextCursor: '1' });
    expect(addNewest(loaded, { rows: [], isRecent: true })).toBe(loaded);
  });
});

describe('addOlderPage', () => {
  it('continues after a page without rows', () => {
    const first = addOlder({ rows: [], nextCursor: '9' }, { rows: [], nextCursor: '6' });
    expect(first).toEqual({ rows: [], nextCursor: '6' });
    expect(addOlder(first, { rows: [2, 1] })).toEqual({ rows: [2, 1] });
  });

  it('leaves out rows that are loaded', () => {
    expect(addOlder({ rows: [3, 2], nextCursor: '2' }, { rows: [2, 1] }).rows).toEqual([3, 2, 1]);
  });
});

describe('rows of a list with cursors', () => {
  it('never have a gap, whatever the order of new rows, refreshes and further pages', () => {
    const step = fc.oneof(
      fc.record({ type: fc.constant('insert' as const), count: fc.integer({ min: 1, max: 12 }) }),
      fc.constant({ type: 'refresh' as const }),
      fc.constant({ type: 'older' as const }),
    );
    const steps = fc.array(step, { maxLength: 30 });
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 1, max: 8 }), steps, (count, limit, steps) => {
        let list = Array.from({ length: count }, (_, index) => count - index);
        let loaded = readPage(list, limit);
        for (const step of steps) {
          const newest = list[0] ?? 0;
          if (step.type === 'insert')
            list = [...Array.from({ length: step.count }, (_, index) => newest + step.count - index), ...list];
          if (step.type === 'refresh') loaded = addNewest(loaded, readPage(list, limit));
          if (step.type === 'older' && loaded.nextCursor !== undefined)
            loaded = addOlder(loaded, readPage(list, limit, loaded.nextCursor));
          const [first, last] = [loaded.rows[0], loaded.rows.at(-1)];
          const range = list.filter((row) => row % 3 !== 0 && row <= (first ?? 0) && row >= (last ?? 1));
          expect(loaded.rows).toEqual(range);
        }
        while (loaded.nextCursor !== undefined) loaded = addOlder(loaded, readPage(list, limit, loaded.nextCursor));
        expect(loaded.rows).toEqual(list.filter((row) => row % 3 !== 0 && row <= (loaded.rows[0] ?? 0)));
      }),
    );
  });
});

describe('loadPages', () => {
  /** Each third row is visible. */
  const load = async (list: readonly number[], options: Parameters<typeof loadPages<number>>[1]) => {
    const cursors: (string | undefined)[] = [];
    const page = await loadPages(async (cursor) => {
      cursors.push(cursor);
      return readPage(list, 1, cursor);
    }, options);
    return { ...page, cursors };
  };
  const hasRows = (rows: readonly number[]) => rows.length > 0;

  it('continues behind a page without rows, and stops when the rows are enough', async () => {
    expect(await load([9, 6, 5, 4], { isEnough: hasRows })).toEqual({
      rows: [5],
      nextCursor: '5',
      cursors: [undefined, '9', '6'],
    });
    expect(await load([9, 6, 5, 4], { cursor: '5', isEnough: hasRows })).toMatchObject({ rows: [4], cursors: ['5'] });
  });

  it('stops at the end of the list', async () => {
    expect(await load([9, 6], { isEnough: hasRows })).toEqual({ rows: [], cursors: [undefined, '9'] });
  });

  it('stops after some pages with the cursor of the next one', async () => {
    const list = [30, 27, 24, 21, 18, 15, 12, 11];
    const { rows, nextCursor, cursors } = await load(list, { isEnough: hasRows });
    expect([rows, nextCursor, cursors.length]).toEqual([[], '18', maxAutomaticPages]);
  });
});
