import { type HttpResponse, type StoreHttpRequest, textResponse } from '../http-messages.ts';
import { getRates, listPublishedDays } from './published-rates.ts';

/** Host of the ECB Data Portal API. */
export const centralBankHost = 'data-api.ecb.europa.eu';

/** Daily reference rates of all currencies against the euro. An omitted dimension of a series key is a wildcard. */
const seriesPath = '/service/data/EXR/D..EUR.SP00.A';
/** Maximum age of a start day that the emulator has rates for. */
const maxHistoryDays = 400;

const header = 'KEY,FREQ,CURRENCY,CURRENCY_DENOM,EXR_TYPE,EXR_SUFFIX,TIME_PERIOD,OBS_VALUE';

/**
 * Handles a data query of the reference rates at `now`, in the CSV format without attributes
 * (`format=csvdata&detail=dataonly`). Responds 404 without observations.
 * @see https://data.ecb.europa.eu/help/api/data
 */
export function handleCentralBankCall({ method, path, query }: StoreHttpRequest, now: number): HttpResponse {
  if (method !== 'GET' || path !== seriesPath) return textResponse(404, 'Not Found');
  if (query.get('format') !== 'csvdata' || query.get('detail') !== 'dataonly')
    return textResponse(406, 'The emulator supports format=csvdata with detail=dataonly only.');
  const [first, last] = [query.get('startPeriod') ?? '', query.get('endPeriod') ?? '9999'];
  const days = listPublishedDays(now, maxHistoryDays).filter((day) => day >= first && day <= last);
  if (days.length === 0) return textResponse(404, 'No results found.');
  return { status: 200, headers: { 'content-type': 'text/csv' }, body: `${buildCsv(days)}\r\n` };
}

/** Builds the rows by series, each in ascending order of the days. */
function buildCsv(days: readonly string[]): string {
  const rows = days.flatMap((date) => getRates(date).map(([currency, rate]) => ({ date, currency, rate })));
  const sorted = rows.toSorted((a, b) => (`${a.currency}${a.date}` < `${b.currency}${b.date}` ? -1 : 1));
  const lines = sorted.map(
    ({ date, currency, rate }) => `EXR.D.${currency}.EUR.SP00.A,D,${currency},EUR,SP00,A,${date},${rate}`,
  );
  return [header, ...lines].join('\r\n');
}
