import type { RevenueRow } from '../../../lib/statistics/revenue-contract.ts';
import { useApi } from '../../api/use-api.ts';
import { useNow } from '../../clock.ts';
import { Chart } from '../../components/chart.tsx';
import { CsvButton } from '../../components/csv-button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Section } from '../../components/layout.tsx';
import { EmptyState } from '../../components/notice.tsx';
import { Money } from '../../components/values.tsx';
import { formatUsd } from '../../format.ts';
import type { PageProps } from '../page.ts';
import { accountingPeriods, chooseInterval, intervals } from '../periods.ts';
import { FigureSummary } from './figure-summary.tsx';
import { figuresEndpoints } from './figures-endpoints.ts';
import { FiguresPage, proceedsTexts } from './figures-page.tsx';
import { buildFiguresView, sumOf, toIntervalFigures, toSeries } from './figures-view.ts';
import { readFilters, toFiguresRequest } from './filters.ts';
import { GroupSection } from './group-section.tsx';
import { describeDays, type IntervalColumn, IntervalTable, toAxis } from './interval-rows.tsx';
import { MrrView } from './mrr.tsx';
import { revenueTabs } from './revenue-tabs.ts';

const toMetric = (id: 'gross' | 'refunds' | 'commission' | 'tax' | 'proceeds', label: string) => ({
  id,
  label,
  read: sumOf((row: RevenueRow) => row[`${id}USD`]),
  format: formatUsd,
});

const gross = toMetric('gross', 'Gross');
const proceeds = toMetric('proceeds', 'Proceeds');
const metrics: readonly (IntervalColumn<RevenueRow> & { readonly id: ReturnType<typeof toMetric>['id'] })[] = [
  gross,
  toMetric('refunds', 'Refunds'),
  toMetric('commission', 'Commission'),
  toMetric('tax', 'Tax'),
  proceeds,
];

/** Payments, and what is left of them after refunds, commission and tax. The recurring part is the second tab. */
export const RevenuePage = ({ query }: PageProps) =>
  query.tab === 'mrr' ? <MrrView query={query} /> : <PaymentsView query={query} />;

function PaymentsView({ query }: Pick<PageProps, 'query'>) {
  const now = useNow();
  const filters = { ...readFilters(query, now), amount: undefined };
  const { period } = filters;
  const interval = chooseInterval(query.interval, period);
  const { getRevenue } = figuresEndpoints;
  const current = useApi(getRevenue, toFiguresRequest(period.current, filters, interval));
  const complete = useApi(getRevenue, toFiguresRequest(period.complete, filters, 'range'));
  const previous = useApi(getRevenue, toFiguresRequest(period.previous, filters, 'range'));
  const view = buildFiguresView({ current, complete, previous }, toIntervalFigures, filters);
  const rows = view.items ?? [];
  const axis = toAxis(rows, { period, interval: current.data?.interval ?? interval, now });
  const { first, last } = period.current;
  return (
    <FiguresPage
      title="Revenue"
      definition="revenue"
      filters={filters}
      interval={interval}
      intervals={intervals}
      presets={accountingPeriods}
      tabs={revenueTabs}
      range={period.current}
      comparison={describeDays(period)}
      view={view}
    >
      <FigureSummary metrics={metrics} view={view} range={period.current} label={axis.label} />
      <Section
        title="Gross and proceeds"
        description="Payments and refunds on their own days, in US dollars. Proceeds are the part of the payments without refunds, commission and tax."
      >
        <Chart
          title="Gross and proceeds"
          kind="bars"
          series={[gross, proceeds].map((metric) => toSeries(metric, rows))}
          format={formatUsd}
          isStale={view.isStale}
          days={axis.days}
          incomplete={axis.incomplete}
        />
      </Section>
      <GroupSection
        metrics={metrics}
        view={view}
        filters={filters}
        query={query}
        range={period.current}
        days={axis.days}
        incomplete={axis.incomplete}
      />
      <IntervalTable title="Revenue by interval" columns={metrics} view={view} axis={axis} />
      <Section
        title="Revenue by currency"
        description="In the currency of each payment. The file for accounting has a line for each interval and currency."
        actions={
          view.items && (
            <CsvButton
              label="CSV for accounting"
              fileName={`revenue-${first}-${last}`}
              columns={[
                { title: 'First day', csv: ({ range }) => range.first },
                { title: 'Last day', csv: ({ range }) => range.last },
                { title: 'Currency', csv: ({ currency }) => currency },
                ...metrics.map(({ id, label }) => ({
                  title: label,
                  csv: ({ amounts }: AccountRow) => amounts[`${id}Micros`] / 1_000_000,
                })),
                { title: 'Basis', csv: () => view.proceedsSource && proceedsTexts[view.proceedsSource] },
              ]}
              rows={rows.flatMap(({ currencies }, index) =>
                Object.entries(currencies).map(
                  ([currency, amounts]): AccountRow => ({
                    range: axis.ranges[index] ?? period.current,
                    currency,
                    amounts,
                  }),
                ),
              )}
            />
          )
        }
      >
        <DataTable
          caption="Revenue by currency"
          columns={[
            { title: 'Currency', render: ({ currency }) => currency },
            ...metrics.map(({ id, label }) => ({
              title: label,
              align: 'end' as const,
              render: ({ currency, amounts }: CurrencyRow) => (
                <Money amountMicros={amounts[`${id}Micros`]} currency={currency} />
              ),
            })),
          ]}
          rows={view.items && sumCurrencies(view.items)}
          getKey={({ currency }) => currency}
          isStale={view.isStale}
          empty={<EmptyState title="This period has no payments." />}
          placeholderRows={3}
        />
      </Section>
    </FiguresPage>
  );
}

type Amounts = RevenueRow['currencies'][string];

interface CurrencyRow {
  readonly currency: string;
  readonly amounts: Amounts;
}

interface AccountRow extends CurrencyRow {
  readonly range: { readonly first: string; readonly last: string };
}

function sumCurrencies(rows: readonly RevenueRow[]): CurrencyRow[] {
  const currencies = [...new Set(rows.flatMap((row) => Object.keys(row.currencies)))].sort();
  return currencies.map((currency) => {
    const read = (name: keyof Amounts) => sumOf((row: RevenueRow) => row.currencies[currency]?.[name] ?? 0)(rows);
    const amounts = Object.fromEntries(metrics.map(({ id }) => [`${id}Micros`, read(`${id}Micros`)])) as Amounts;
    return { currency, amounts };
  });
}
