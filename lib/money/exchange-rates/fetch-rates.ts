import type { Deps } from '../../deps.ts';
import { ServiceError } from '../../shared/errors.ts';
import { createRecordedFetch } from '../../stores/recorded-fetch.ts';
import { type DailyRates, toUtcDay } from '../daily-rates.ts';
import { parseEcbRates } from './parse-ecb-rates.ts';

const folder = 'https://www.ecb.europa.eu/stats/eurofxref';
const timeoutMs = 15_000;

/** The files of the European Central Bank: the last day, and the last 90 days. */
const files = { daily: 'eurofxref-daily.xml', history: 'eurofxref-hist-90d.xml' } as const;

/** The days of a file, newest first. Throws `ConnectionFailed` for any answer that is not wholly right. */
export async function fetchRates(
  file: keyof typeof files,
  { now, emulator }: Pick<Deps, 'now' | 'emulator'>,
): Promise<DailyRates[]> {
  // Belongs to no application's request, so there is no event to keep the call in.
  const fetchFile = createRecordedFetch({ record: () => {}, now, ...(emulator.url && { storesUrl: emulator.url }) });
  const { status, text } = await fetchFile(`${folder}/${files[file]}`, { timeoutMs });
  if (status !== 200)
    throw new ServiceError('ConnectionFailed', 'The exchange rates could not be fetched.', { cause: `HTTP ${status}` });
  const days = parseEcbRates(text).sort((a, b) => (a.date > b.date ? -1 : 1));
  if (days.some(({ date }) => date > toUtcDay(now())))
    throw new ServiceError('ConnectionFailed', 'The exchange rates could not be read.', { cause: 'a day to come' });
  return days;
}
