import { addDays } from '../foundation/calendar.ts';
import type { Service } from '../foundation/service.ts';
import { toUtcDay } from '../money/rates.ts';
import { readCreditStats } from '../statistics/read-credit-stats.ts';
import { createFinding, type Finding } from './finding.ts';

/** Days after the first gift or payment in which customers must not have spent yet. */
const graceDays = 7;

/** Finds credits of which customers have units, and which the app has not spent in a year. */
export async function checkCredits(service: Service, app: string): Promise<readonly Finding[]> {
  const today = toUtcDay(service.now());
  const yearAgo = addDays(today, -365);
  const stats = await readCreditStats(service, app, [yearAgo, today]);
  return Object.entries(stats)
    .filter(
      ([
        ,
        {
          outstanding,
          spent,
          outstandingAtStart,
          days: [first],
        },
      ]) =>
        outstanding > 0 &&
        spent === 0 &&
        (outstandingAtStart > 0 || (first?.date ?? today) <= addDays(today, -graceDays)),
    )
    .map(([credit, { outstanding }]) => {
      const diagnosis = {
        problem: `Customers of ${app} have ${outstanding} ${credit}, and none were spent in the last year.`,
        cure: 'Let the server of the app call `POST /v3/customers/:applicationUsername/credits/spend` before it delivers what the units pay for, or remove `credits` from the catalogue.',
      };
      return createFinding('credits-never-spent', diagnosis, { app });
    });
}
