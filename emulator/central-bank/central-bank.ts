import { type HttpResponse, type StoreHttpRequest, textResponse } from '../http-messages.ts';
import { getRates, listPublishedDays } from './published-rates.ts';

/** Where the European Central Bank publishes. */
export const centralBankHost = 'www.ecb.europa.eu';

const head =
  '<?xml version="1.0" encoding="UTF-8"?>\n<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" ' +
  'xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">';
const sender = '<gesmes:Sender><gesmes:name>European Central Bank</gesmes:name></gesmes:Sender>';

/** Answers the two files of reference rates as they are at `now`. */
export function handleCentralBankCall({ method, path }: StoreHttpRequest, now: number): HttpResponse {
  const file = path.replace(/^\/stats\/eurofxref\//, '');
  const days = listPublishedDays(now, 90);
  if (method === 'GET' && file === 'eurofxref-daily.xml') return xml(dailyFile(days.slice(0, 1)));
  if (method === 'GET' && file === 'eurofxref-hist-90d.xml') return xml(historyFile(days));
  return textResponse(404, 'Not Found');
}

/** In lines, tabs and single quotes, as the bank writes this file and not the other. */
function dailyFile(days: readonly string[]): string {
  const cubes = days.map((day) => {
    const rates = getRates(day).map(([currency, rate]) => `\t\t\t<Cube currency='${currency}' rate='${rate}'/>\n`);
    return `\t\t<Cube time='${day}'>\n${rates.join('')}\t\t</Cube>\n`;
  });
  return `${head}\n\t<gesmes:subject>Reference rates</gesmes:subject>\n\t${sender}\n\t<Cube>\n${cubes.join('')}\t</Cube>\n</gesmes:Envelope>`;
}

function historyFile(days: readonly string[]): string {
  const cubes = days.map((day) => {
    const rates = getRates(day).map(([currency, rate]) => `<Cube currency="${currency}" rate="${rate}"/>`);
    return `<Cube time="${day}">${rates.join('')}</Cube>`;
  });
  return `${head}<gesmes:subject>Reference rates</gesmes:subject>${sender}<Cube>${cubes.join('')}</Cube></gesmes:Envelope>`;
}

const xml = (body: string): HttpResponse => ({ status: 200, headers: { 'content-type': 'text/xml' }, body });
