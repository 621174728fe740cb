import * as v from 'valibot';
import { OptionalTrue } from '../api/schemas.ts';
import { parse } from '../foundation/parse.ts';
import type { ItemImage } from '../foundation/stream-record.ts';
import { toUtcDay } from '../money/rates.ts';
import type { FigureCounts } from './count-figures.ts';
import { type CreditSum, toCreditName } from './counter-names.ts';

const CreditEntryItem = v.object({
  at: v.number(),
  type: v.string(),
  credit: v.string(),
  amount: v.number(),
  isSandbox: v.boolean(),
  isRefused: OptionalTrue,
  isForwarded: OptionalTrue,
});

/** What a change of credits adds to a sum. Units that are held or move between customers stay outstanding. */
const effects: Readonly<Record<string, readonly [sum: CreditSum, sign: 1 | -1]>> = {
  given: ['given', 1],
  spent: ['spent', 1],
  captured: ['spent', 1],
  taken: ['takenBack', 1],
  'taken-back': ['takenBack', 1],
  returned: ['takenBack', -1],
  expired: ['expired', 1],
};

/** Returns the contribution of a change of credits to the sums of its day and of its month. */
export function countCredits(item: ItemImage): FigureCounts[] {
  const { at, type, credit, amount, isSandbox, isRefused, isForwarded } = parse(CreditEntryItem, item, 'DatabaseError');
  const [sum, sign] = effects[type] ?? [];
  if (sum === undefined || sign === undefined || isSandbox || isRefused || isForwarded) return [];
  const day = toUtcDay(at);
  const counts = { [toCreditName(credit, sum)]: sign * amount };
  return [day, day.slice(0, 7)].map((period) => ({ kind: 'credits', period, counts }));
}
