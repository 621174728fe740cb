import { addMonths } from '../../lib/foundation/calendar.ts';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { toUtcDay } from '../../lib/money/rates.ts';
import { getAppStats } from '../../lib/statistics/contract.ts';
import { listCounterMonths } from '../../lib/statistics/counter-table.ts';
import { indexByPeriod } from '../../lib/statistics/counts.ts';

/** The service is without a quota, because the operator pays for the usage. */
const monthlyQuota = Number.MAX_SAFE_INTEGER;

export const handler = createHandler(getAppStats)(async ({ app, params }, service) => {
  if (params.appName !== app.name)
    throw new ServiceError('Forbidden', 'The key does not belong to the app in the path.');
  const thisMonth = toUtcDay(service.now()).slice(0, 7);
  const lastMonth = addMonths(thisMonth, -1);
  const months = indexByPeriod(await listCounterMonths(service, app.name, { months: [lastMonth, thisMonth] }));
  const readCount = (month: string, name: string): number => months.get(month)?.[name] ?? 0;
  return {
    monthlyQuota,
    thisMonth: readCount(thisMonth, 'transactions'),
    lastMonth: readCount(lastMonth, 'transactions'),
    reqThisMonth: readCount(thisMonth, 'requests'),
    reqLastMonth: readCount(lastMonth, 'requests'),
  };
});
