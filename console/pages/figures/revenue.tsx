import type { RevenueRow } from '../../../lib/statistics/revenue-contract.ts';
import { CsvButton } from '../../components/csv-button.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { Section } from '../../components/layout.tsx';
import { EmptyState } from '../../components/notice.tsx';
import { Money } from '../../components/values.tsx';
import { formatUsd } from '../../format.ts';
import type { PageProps } from '../page.ts';
import { accountingPeriods } from '../periods.ts';
import { FigureChart } from './figure-chart.tsx';
import { FigureSummary } from './figure-summary.tsx';
import { figuresEndpoints } from './figures-endpoints.ts';
import { FiguresPage, proceedsTexts } from './figures-page.tsx';
import { sumOf } from './figures-view.ts';
import { GroupSection } from './group-section.tsx';
import { type IntervalColumn, IntervalTable } from './interval-rows.tsx';
import { MrrView } from './mrr.tsx';
import { revenueTabs } from './revenue-tabs.ts';
import { useFigures } from './use-figures.ts';

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
  const figures = useFigures<RevenueRow>(figuresEndpoints.getRevenue, query, { amount: undefined });
  const { view, ranges, range } = figures;
  const source = view.figures?.proceedsSource;
  const currencies = Object.entries(view.whole?.[0]?.currencies ?? {});
  return (
    <FiguresPage title="Revenue" definition="revenue" presets={accountingPeriods} tabs={revenueTabs} {...figures}>
      <FigureSummary metrics={metrics} {...figures} />
      <FigureChart
        title="Gross and proceeds"
        description="Payments and refunds on their own days, in US dollars. Proceeds are the part of the payments without refunds, commission and tax."
        kind="bars"
        metrics={[gross, proceeds]}
        {...figures}
      />
      <GroupSection metrics={metrics} {...figures} />
      <IntervalTable title="Revenue by interval" columns={metrics} {...figures} />
      <Section
        title="Revenue by currency"
        description="In the currency of each payment. The file for accounting has a line for each interval and currency."
        actions={
          view.items && (
            <CsvButton
              label="CSV for accounting"
              fileName={`revenue-${range.first}-${range.last}`}
              columns={[
                { title: 'First day', csv: ({ range }) => range.first },
                { title: 'Last day', csv: ({ range }) => range.last },
                { title: 'Currency', csv: ({ currency }) => currency },
                ...metrics.map(({ id, label }) => ({
                  title: label,
                  csv: ({ amounts }: AccountRow) => amounts[`${id}Micros`] / 1_000_000,
                })),
                { title: 'Basis', csv: () => source && proceedsTexts[source] },
              ]}
              rows={view.items.flatMap((row, index) =>
                Object.entries(row.currencies).map(
                  ([currency, amounts]): AccountRow => ({ range: ranges[index] ?? range, currency, amounts }),
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
          rows={
            view.whole &&
            currencies
              .map(([currency, amounts]) => ({ currency, amounts }))
              .sort((a, b) => a.currency.localeCompare(b.currency))
          }
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
