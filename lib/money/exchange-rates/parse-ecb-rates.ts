import * as v from 'valibot';
import { ServiceError } from '../../foundation/errors.ts';
import { CurrencyCode, DailyRates } from '../daily-rates.ts';

/** The rate of one currency per euro on a day. */
interface RateObservation {
  readonly date: string;
  readonly currency: string;
  readonly rate: string;
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
