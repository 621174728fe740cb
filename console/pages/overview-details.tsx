import type { BreakdownRow } from '../../lib/statistics/breakdown-contract.ts';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Section } from '../components/layout.tsx';
import { EmptyState } from '../components/notice.tsx';
import { Money } from '../components/values.tsx';
import { BreakdownSection, type BreakdownSectionProps } from './overview-breakdown.tsx';

export interface OverviewDetailsProps extends BreakdownSectionProps {
  /** Undefined while they are loading. */
  readonly records: readonly BreakdownRow[] | undefined;
}

/** The figures of the overview by store or product, and the revenue by currency. */
export const OverviewDetails = ({ records, ...props }: OverviewDetailsProps) => (
  <>
    <BreakdownSection {...props} />
    <Section title="Revenue by currency">
      <RevenueByCurrency records={records} />
    </Section>
  </>
);

interface CurrencyRow {
  readonly currency: string;
  readonly amountMicros: number;
}

function RevenueByCurrency({ records }: Pick<OverviewDetailsProps, 'records'>) {
  const columns: readonly Column<CurrencyRow>[] = [
    { title: 'Currency', render: ({ currency }) => currency, csv: ({ currency }) => currency },
    {
      title: 'Revenue',
      align: 'end',
      render: ({ amountMicros, currency }) => <Money amountMicros={amountMicros} currency={currency} />,
      csv: ({ amountMicros }) => amountMicros / 1_000_000,
    },
  ];
  return (
    <DataTable
      caption="Revenue by currency"
      columns={columns}
      rows={records && sumByCurrency(records)}
      getKey={({ currency }) => currency}
      empty={<EmptyState title="This period has no revenue." />}
      fileName="revenue-by-currency"
      placeholderRows={4}
    />
  );
}

function sumByCurrency(records: readonly BreakdownRow[]): CurrencyRow[] {
  const totals = new Map<string, number>();
  for (const { amountMicros } of records)
    for (const [currency, amount] of Object.entries(amountMicros))
      totals.set(currency, (totals.get(currency) ?? 0) + amount);
  return [...totals]
    .map(([currency, amountMicros]) => ({ currency, amountMicros }))
    .filter(({ amountMicros }) => amountMicros !== 0)
    .sort((a, b) => a.currency.localeCompare(b.currency));
}
