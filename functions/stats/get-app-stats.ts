import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { table } from '../../composition/table.ts';
import { getAppStats } from '../../lib/api/stats.ts';
import { createCounterRepository } from '../../lib/db/counter-repository.ts';
import { toUtcDay } from '../../lib/money/daily-rates.ts';
import { addMonths } from '../../lib/shared/calendar.ts';
import { ServiceError } from '../../lib/shared/errors.ts';
import { indexByPeriod } from '../../lib/statistics/counts.ts';

/** The service has no quota, because the operator pays for the usage. */
const monthlyQuota = Number.MAX_SAFE_INTEGER;

export const handler = createHandler(getAppStats, () => ({ counters: createCounterRepository(table()), now }))(
  async ({ app, params }, { now, counters }) => {
    if (params.appName !== app.name)
      throw new ServiceError('Forbidden', 'The key does not belong to the app in the path.');
    const thisMonth = toUtcDay(now()).slice(0, 7);
    const lastMonth = addMonths(thisMonth, -1);
    const months = indexByPeriod(await counters.listMonths(app.name, lastMonth, thisMonth));
    const readCount = (month: string, name: string): number => months.get(month)?.[name] ?? 0;
    return {
      monthlyQuota,
      thisMonth: readCount(thisMonth, 'transactions'),
      lastMonth: readCount(lastMonth, 'transactions'),
      reqThisMonth: readCount(thisMonth, 'requests'),
      reqLastMonth: readCount(lastMonth, 'requests'),
    };
  },
);
