import * as v from 'valibot';
import { ServiceError, unavailableError } from '../../foundation/errors.ts';
import type { Service } from '../../foundation/service.ts';
import { dayMs, type EpochMillis, secondMs } from '../../foundation/time.ts';
import { CurrencyCode, DailyRates, isInRateWindow, toUtcDay } from '../rates.ts';
import { listRateDays, saveRates } from './exchange-rate-table.ts';

/** Missing rates are filled in for so many days. */
const backfillDays = 90;

/**
 * Daily (`D`) reference rates (`SP00.A`) of all currencies against the euro in the ECB Data Portal API.
 * @see https://data.ecb.europa.eu/help/api/data
 */
const seriesUrl = 'https://data-api.ecb.europa.eu/service/data/EXR/D..EUR.SP00.A';
const timeoutMs = 15 * secondMs;

interface RateSource {
  now(): EpochMillis;
  /**
   * Sends one GET request and reads the response. Throws `ConnectionFailed` without a complete response in time.
   */
  fetchText(
    url: string,
    options: { readonly timeoutMs: number },
  ): Promise<{ readonly status: number; readonly text: string }>;
}

/** The rate of one currency per euro on a day. */
interface RateObservation {
  readonly date: string;
  readonly currency: string;
  readonly rate: string;
}

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

/**
 * Fetches the reference rates since a day (`YYYY-MM-DD`), newest first. The start day also leaves out discontinued
 * currencies. Throws `ConnectionFailed` if the bank is unavailable or its response is invalid.
 */
async function fetchRates(startDay: string, { now, fetchText }: RateSource): Promise<DailyRates[]> {
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

/**
 * Parses the reference rates in the CSV format of the ECB Data Portal API (`format=csvdata&detail=dataonly`): a header,
 * then a row per currency and day. Days without rates, which are holidays, are left out. Throws `ConnectionFailed` if
 * the response is incomplete or invalid.
 * @see https://data.ecb.europa.eu/help/api/data
 */
export function parseEcbRates(csv: string): DailyRates[] {
  const observations = parseObservations(csv).filter(({ rate }) => rate !== '' && rate !== 'NaN');
  if (observations.length === 0) throw invalidRatesError('no observations');
  const dates = [...new Set(observations.map(({ date }) => date))];
  return dates.map((date) =>
    toDailyRates(
      date,
      observations.filter((observation) => observation.date === date),
    ),
  );
}

function parseObservations(csv: string): RateObservation[] {
  // The format does not quote values: none of the columns can contain a comma.
  const [header = [], ...rows] = csv
    .trim()
    .split(/\r?\n/)
    .map((line) => line.split(','));
  const columns = ['CURRENCY', 'CURRENCY_DENOM', 'TIME_PERIOD', 'OBS_VALUE'].map((name) => header.indexOf(name));
  if (columns.includes(-1)) throw invalidRatesError('not a CSV file of exchange rates');
  return rows.map((row) => {
    const [currency = '', denominator = '', date = '', rate = ''] = columns.map((column) => row[column] ?? '');
    if (row.length !== header.length || denominator !== 'EUR') throw invalidRatesError('a row is invalid');
    return { date, currency, rate };
  });
}

function toDailyRates(date: string, observations: readonly RateObservation[]): DailyRates {
  if (!observations.every(({ currency }) => v.is(CurrencyCode, currency)))
    throw invalidRatesError('a currency code is invalid');
  const perEuro = Object.fromEntries(observations.map(({ currency, rate }) => [currency, rate]));
  if (Object.keys(perEuro).length < observations.length) throw invalidRatesError('a currency is repeated');
  const rates = { date, perEuro };
  if (!v.is(DailyRates, rates) || !isCalendarDay(date)) throw invalidRatesError('a date or rate is invalid');
  return rates;
}

const isCalendarDay = (date: string): boolean =>
  !Number.isNaN(Date.parse(date)) && new Date(date).toISOString().startsWith(date);

const invalidRatesError = (cause: string): ServiceError =>
  new ServiceError('ConnectionFailed', 'The exchange rates of the European Central Bank are invalid.', { cause });
