import { ServiceError } from '../../foundation/errors.ts';
import { type EpochMillis, secondMs } from '../../foundation/time.ts';
import { unavailableError } from '../../foundation/unavailable-error.ts';
import { type DailyRates, toUtcDay } from '../daily-rates.ts';
import { parseEcbRates } from './parse-ecb-rates.ts';

/**
 * Daily (`D`) reference rates (`SP00.A`) of all currencies against the euro in the ECB Data Portal API.
 * @see https://data.ecb.europa.eu/help/api/data
 */
const seriesUrl = 'https://data-api.ecb.europa.eu/service/data/EXR/D..EUR.SP00.A';
const timeoutMs = 15 * secondMs;

export interface RateSource {
  now(): EpochMillis;
  /**
   * Sends one GET request and reads the response. Throws `ConnectionFailed` without a complete response in time.
   */
  fetchText(
    url: string,
    options: { readonly timeoutMs: number },
  ): Promise<{ readonly status: number; readonly text: string }>;
}

/**
 * Fetches the reference rates since a day (`YYYY-MM-DD`), newest first. The start day also leaves out discontinued
 * currencies. Throws `ConnectionFailed` if the bank is unavailable or its response is invalid.
 */
export async function fetchRates(startDay: string, { now, fetchText }: RateSource): Promise<DailyRates[]> {
  const query = new URLSearchParams({ startPeriod: startDay, detail: 'dataonly', format: 'csvdata' });
  const { status, text } = await fetchText(`${seriesUrl}?${query}`, { timeoutMs });
  if (status !== 200) {
    throw unavailableError('The European Central Bank', `HTTP ${status}`);
  }
  const days = parseEcbRates(text).sort((a, b) => (a.date > b.date ? -1 : 1));
  if (days.some(({ date }) => date > toUtcDay(now()))) {
    throw new ServiceError('ConnectionFailed', 'The exchange rates of the European Central Bank are invalid.', {
      cause: 'a date is in the future',
    });
  }
  return days;
}
