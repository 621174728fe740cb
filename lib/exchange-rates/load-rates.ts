import type { Deps } from '../deps.ts';
import { ServiceError } from '../errors.ts';
import { dayOf, isGood, isWorkingDay } from '../money/day-rates.ts';
import { fetchRates } from './fetch-rates.ts';

type Needed = Pick<Deps, 'now' | 'emulator' | 'dayRates'>;

/** How far back the history is healed: a little less than its file has. */
const healedDays = 80;

/**
 * Keeps the latest reference rates, and those of earlier days that are missing. Twice is once. Throws when the bank gives no
 * usable answer or has published nothing for days; what such an answer says is not kept.
 */
export async function loadRates(deps: Needed): Promise<void> {
  const { now, dayRates } = deps;
  const latest = await fetchRates('daily', deps);
  const [newest] = latest;
  if (!newest || !isGood(newest.date, now() + dayMs))
    throw new ServiceError('ConnectionFailed', 'The exchange rates are out of date.', { cause: newest?.date });
  await dayRates.keep(latest);
  const kept = new Set(await dayRates.daysBetween(dayOf(now(), -healedDays), newest.date));
  if (workingDays(now(), newest.date).every((day) => kept.has(day))) return;
  const history = await fetchRates('history', deps);
  await dayRates.keep(history.filter(({ date }) => !kept.has(date)));
}

const dayMs = 24 * 60 * 60 * 1000;

/** Days on which there may be rates; after a holiday the history is asked for in vain, which costs one call a day. */
function workingDays(now: number, until: string): string[] {
  const days = Array.from({ length: healedDays + 1 }, (_, ago) => dayOf(now, -ago));
  return days.filter((day) => day <= until && isWorkingDay(day));
}
