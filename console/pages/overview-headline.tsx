import type { BreakdownRow } from '../../lib/statistics/breakdown-contract.ts';
import type { ChurnRow, MrrRow } from '../../lib/statistics/mrr-contract.ts';
import { useApi } from '../api/use-api.ts';
import { useNow } from '../clock.ts';
import { Sparkline } from '../components/sparkline.tsx';
import { Figure, Figures } from '../components/values.tsx';
import { formatDay, formatPercent, formatUsd } from '../format.ts';
import { Link } from '../router.tsx';
import { toSandboxQuery } from '../sandbox.ts';
import { describeChange } from './describe-change.ts';
import { figuresEndpoints } from './figures/figures-endpoints.ts';
import { readNet } from './figures/read-net.ts';
import { addMonths, type Period, toDay } from './periods.ts';
import { chooseMetric, type Metric, readEach } from './stats-rows.ts';

interface HeadlineProps {
  readonly period: Period;
  readonly interval: Period['interval'];
  readonly isSandbox: boolean;
  readonly rows: readonly BreakdownRow[] | undefined;
  readonly isStale: boolean;
  readonly describe: (metric: Metric) => string | undefined;
}

/** The state of the business: five figures, each with its course in the period and its change. */
export function Headline({ period, interval, isSandbox, rows, isStale, describe }: HeadlineProps) {
  const { first, last } = period.current;
  const sandbox = toSandboxQuery(isSandbox);
  const mrr = useApi(figuresEndpoints.getMrr, { query: { startdate: first, enddate: last, interval, ...sandbox } });
  const today = toDay(useNow());
  const churn = useApi(figuresEndpoints.getChurn, {
    query: { startdate: addMonths(today, -12), enddate: today, interval: 'month', ...sandbox },
  });
  const toFigure = (id: string, to: string) => {
    const metric = chooseMetric(id);
    const value = rows && metric.read(rows);
    return (
      <Figure
        key={id}
        label={metric.label}
        value={rows && <Link to={to}>{value === undefined ? '–' : metric.format(value)}</Link>}
        line={rows && <Sparkline values={readEach(metric, rows)} />}
        detail={isStale ? undefined : describe(metric)}
      />
    );
  };
  return (
    <Figures isStale={isStale}>
      <MrrFigure rows={mrr.error === undefined ? mrr.data?.rows : []} label={period.label} />
      {toFigure('revenue', '/revenue')}
      {toFigure('active', '/subscriptions')}
      {toFigure('in-trial', '/conversion')}
      <ChurnFigure rows={churn.error === undefined ? churn.data?.rows : []} today={today} />
    </Figures>
  );
}

/** MRR at the end of the period, compared with its start. */
function MrrFigure({
  rows,
  label = '',
}: {
  readonly rows: readonly MrrRow[] | undefined;
  readonly label?: string | undefined;
}) {
  const [end, start] = [rows?.at(-1)?.mrrUSD, rows?.[0] && rows[0].mrrUSD - readNet(rows[0])];
  return (
    <Figure
      label="MRR"
      value={rows && <Link {...mrrPage}>{end === undefined ? '–' : formatUsd(end)}</Link>}
      line={rows && <Sparkline values={rows.map(({ mrrUSD }) => mrrUSD)} />}
      detail={
        end === undefined || start === undefined
          ? undefined
          : describeChange({ current: end, previous: Math.max(0, Number(start.toFixed(2))), format: formatUsd, label })
      }
    />
  );
}

const mrrPage = { to: '/revenue', query: { tab: 'mrr' } };

/** The churn of the latest month that has ended. */
function ChurnFigure({ rows, today }: { readonly rows: readonly ChurnRow[] | undefined; readonly today: string }) {
  const rates = rows
    ?.filter(({ date }) => addMonths(date, 1) <= today)
    .map(({ date, activeAtStart, churnRate }) => ({ date, rate: activeAtStart > 0 ? churnRate : null }));
  const [before, latest] = rates?.slice(-2) ?? [];
  const format = (rate: number | null | undefined): string => (rate == null ? '–' : formatPercent(rate));
  return (
    <Figure
      label="Monthly churn"
      value={rates && <Link to="/subscriptions">{format(latest?.rate)}</Link>}
      line={rates && <Sparkline values={rates.map(({ rate }) => rate)} />}
      detail={latest && `In ${formatDay(latest.date.slice(0, 7))}, from ${format(before?.rate)}`}
    />
  );
}
