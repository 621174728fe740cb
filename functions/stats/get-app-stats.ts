import { getAppStats } from '../../lib/api/stats.ts';
import { ServiceError } from '../../lib/errors.ts';
import { endpoint } from '../../lib/http/endpoint.ts';
import { monthAfter } from '../../lib/stats/calendar.ts';
import { dayOf } from '../../lib/stats/contributions.ts';
import { byPeriod } from '../../lib/stats/tally.ts';

/** There is none: whoever runs the service pays for what it uses. */
const monthlyQuota = Number.MAX_SAFE_INTEGER;

export const handler = endpoint(getAppStats)(async ({ app, params }, { now, counters }) => {
  if (params.appName !== app.name) throw new ServiceError('Forbidden', 'This key is of another application.');
  const thisMonth = dayOf(now()).slice(0, 7);
  const lastMonth = monthAfter(thisMonth, -1);
  const months = byPeriod(await counters.months(app.name, lastMonth, thisMonth));
  const count = (month: string, name: string): number => months.get(month)?.[name] ?? 0;
  return {
    monthlyQuota,
    thisMonth: count(thisMonth, 'transactions'),
    lastMonth: count(lastMonth, 'transactions'),
    reqThisMonth: count(thisMonth, 'requests'),
    reqLastMonth: count(lastMonth, 'requests'),
  };
});
