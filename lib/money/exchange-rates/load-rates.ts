import type { Deps } from '../../deps.ts';
import { ServiceError } from '../../shared/errors.ts';
import { dayMs } from '../../shared/time.ts';
import { isInRateWindow, isWorkingDay, toUtcDay } from '../daily-rates.ts';
import { fetchRates } from './fetch-rates.ts';

type LoadRatesDeps = Pick<Deps, 'now' | 'emulator' | 'dailyRates'>;

/** How far back the history is healed: a little less than its file has. */
const backfillDays = 80;

/**
 * Keeps the latest reference rates, and those of earlier days that are missing. Twice is once. Throws when the bank gives no
 * usable answer or has published nothing for days; what such an answer says is not kept.
 */
export async function loadRates(deps: LoadRatesDeps): Promise<void> {
  const { now, dailyRates } = deps;
  const latest = await fetchRates('daily', deps);
  const [newest] = latest;
  if (!newest || !isInRateWindow(newest.date, now() + dayMs))
    throw new ServiceError('ConnectionFailed', 'The exchange rates are out of date.', { cause: newest?.date });
  await dailyRates.save(latest);
  const storedDays = new Set(await dailyRates.listStoredDays(toUtcDay(now(), -backfillDays), newest.date));
  if (listWorkingDays(now(), newest.date).every((day) => storedDays.has(day))) return;
  const history = await fetchRates('history', deps);
  await dailyRates.save(history.filter(({ date }) => !storedDays.has(date)));
}

/** Days on which there may be rates; after a holiday the history is asked for in vain, which costs one call a day. */
function listWorkingDays(now: number, until: string): string[] {
  const days = Array.from({ length: backfillDays + 1 }, (_, ago) => toUtcDay(now, -ago));
  return days.filter((day) => day <= until && isWorkingDay(day));
}
