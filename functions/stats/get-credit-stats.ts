import { createHandler } from '../../lib/http/endpoint.ts';
import { readCountedUntil } from '../../lib/statistics/counted-until-table.ts';
import { getCreditStats } from '../../lib/statistics/credit-stats-contract.ts';
import { readCreditStats } from '../../lib/statistics/read-credit-stats.ts';
import { parseStatsRange } from '../../lib/statistics/stats-range.ts';

export const handler = createHandler(getCreditStats)(async ({ app, query }, service) => {
  const range = parseStatsRange(query, service.now());
  const countedUntil = await readCountedUntil(service);
  return { countedUntil, credits: range ? await readCreditStats(service, app.name, range.days) : {} };
});
