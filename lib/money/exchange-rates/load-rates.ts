import { ServiceError } from '../../foundation/errors.ts';
import type { Service } from '../../foundation/service.ts';
import { dayMs } from '../../foundation/time.ts';
import { isInRateWindow, toUtcDay } from '../daily-rates.ts';
import { listRateDays, saveRates } from './exchange-rate-table.ts';
import { fetchRates, type RateSource } from './fetch-rates.ts';

/** Missing rates are filled in for so many days. */
const backfillDays = 90;

/**
 * Stores the latest reference rates, and the missing rates of earlier days. Idempotent. Throws `ConnectionFailed`,
 * without a write, if the bank is unavailable, its response is invalid or its latest rates are stale.
 */
export async function loadRates(service: Service, source: Pick<RateSource, 'fetchText'>): Promise<void> {
  const { now } = service;
  const startDay = toUtcDay(now(), -backfillDays);
  const days = await fetchRates(startDay, { now, ...source });
  const [latest] = days;
  if (!latest || !isInRateWindow(latest.date, now() + dayMs)) {
    throw new ServiceError('ConnectionFailed', 'The exchange rates of the European Central Bank are out of date.', {
      cause: latest?.date,
    });
  }
  const storedDays = new Set(await listRateDays(service, startDay, latest.date));
  await saveRates(
    service,
    days.filter(({ date }) => date === latest.date || !storedDays.has(date)),
  );
}
