import { expect, it } from '@jest/globals';
import { selectBought } from '../../../cli/prove/arrivals.ts';

const startedAt = Date.parse('2026-11-30T10:00:00Z');
const createView = (purchaseId: string, minutesAfterStart: number) => ({
  purchaseId,
  productId: 'store_c:premium',
  purchaseDate: new Date(startedAt + minutesAfterStart * 60_000).toISOString(),
  entitledUsers: [],
});

it('selects the purchase that was bought last, although an earlier one has changed since', () => {
  const [bought, earlier] = [createView('store_c:new', 1), createView('store_c:old', -5)];
  const { purchaseDate: _date, ...undated } = createView('store_c:undated', 2);
  const changed = [createView('store_c:long-ago', -90), bought, createView('store_a:other', 2), undated, earlier];
  expect(selectBought(changed, 'store_c', startedAt - 10 * 60_000)).toBe(bought);
  expect(selectBought([earlier], 'store_c', startedAt)).toBeUndefined();
});
