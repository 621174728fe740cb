import { addMonths } from '../foundation/calendar.ts';
import type { Service } from '../foundation/service.ts';
import { creditSums, toCreditName } from './counter-names.ts';
import { listCounterDays, listCounterMonths } from './counter-table.ts';
import { addCounts, type Counts } from './counts.ts';
import type { CreditDay, CreditStat } from './credit-stats-contract.ts';

/** Returns the sums of each credit between two days, and what is outstanding before, in and after them. */
export async function readCreditStats(
  service: Service,
  appName: string,
  [first, last]: readonly [string, string],
): Promise<Record<string, CreditStat>> {
  const group = { kind: 'credits' } as const;
  const month = first.slice(0, 7);
  const [months, days] = await Promise.all([
    listCounterMonths(service, appName, { months: ['', addMonths(month, -1)], ...group }),
    listCounterDays(service, appName, { days: [`${month}-01`, last], ...group }),
  ]);
  const opening = sumPeriods([...months, ...days.filter(({ period }) => period < first)]);
  const inRange = days.filter(({ period }) => period >= first);
  const names = new Set([opening, ...inRange.map(({ counts }) => counts)].flatMap(listCredits));
  const stats = [...names].sort().map((credit): [string, CreditStat] => {
    const outstandingAtStart = countOutstanding(pickSums(opening, credit));
    let outstanding = outstandingAtStart;
    const rows = inRange.flatMap(({ period: date, counts }): CreditDay[] => {
      const sums = pickSums(counts, credit);
      outstanding += countOutstanding(sums);
      return Object.values(sums).some((units) => units !== 0) ? [{ date, ...sums, outstanding }] : [];
    });
    const total = pickSums(sumPeriods(inRange), credit);
    return [credit, { outstandingAtStart, ...total, outstanding, days: rows }];
  });
  return Object.fromEntries(
    stats.filter(([, { outstandingAtStart, days: rows }]) => outstandingAtStart !== 0 || rows.length > 0),
  );
}

const sumPeriods = (periods: readonly { readonly counts: Counts }[]): Counts =>
  periods.reduce<Counts>((total, { counts }) => addCounts(total, counts), {});

const listCredits = (counts: Counts): string[] => Object.keys(counts).map((name) => name.slice(0, name.indexOf('/')));

type CreditSums = Pick<CreditStat, (typeof creditSums)[number]>;

const pickSums = (counts: Counts, credit: string): CreditSums =>
  Object.fromEntries(creditSums.map((sum) => [sum, counts[toCreditName(credit, sum)] ?? 0])) as unknown as CreditSums;

const countOutstanding = ({ given, spent, takenBack, expired }: CreditSums): number =>
  given - spent - takenBack - expired;
