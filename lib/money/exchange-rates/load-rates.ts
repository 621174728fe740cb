import { ServiceError } from '../../shared/errors.ts';
import { dayMs } from '../../shared/time.ts';
import { isInRateWindow, toUtcDay } from '../daily-rates.ts';
import type { ExchangeRateRepository } from './exchange-rate-repository.ts';
import { fetchRates, type RateSource } from './fetch-rates.ts';

interface LoadRatesDeps extends RateSource {
  readonly dailyRates: ExchangeRateRepository;
}

/** Missing rates are filled in for so many days. */
const backfillDays = 90;

/**
 * Stores the latest reference rates, and the missing rates of earlier days. Idempotent. Throws `ConnectionFailed`,
 * without a write, if the bank is unavailable, its response is invalid or its latest rates are stale.
 */
export async function loadRates(deps: LoadRatesDeps): Promise<void> {
  const { now, dailyRates } = deps;
  const startDay = toUtcDay(now(), -backfillDays);
  const days = await fetchRates(startDay, deps);
  const [latest] = days;
  if (!latest || !isInRateWindow(latest.date, now() + dayMs)) {
    throw new ServiceError('ConnectionFailed', 'The exchange rates of the European Central Bank are out of date.', {
      cause: latest?.date,
    });
  }
  const storedDays = new Set(await dailyRates.listStoredDays(startDay, latest.date));
  await dailyRates.save(days.filter(({ date }) => date === latest.date || !storedDays.has(date)));
}
