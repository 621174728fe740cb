import type { ContractResponse } from '../../../lib/api/contract.ts';
import type { CustomerSpend, listCustomers } from '../../../lib/customers/contract.ts';
import { endpoints } from '../../api/endpoints.ts';
import { useApi } from '../../api/use-api.ts';
import type { Column } from '../../components/data-table.tsx';
import { None, Usd } from '../../components/values.tsx';

type CustomerRow = ContractResponse<typeof listCustomers>['rows'][number];
type SpendByUser = ReadonlyMap<string, CustomerSpend | undefined>;

/** Longer lists of names exceed the length of a URL that servers accept. */
const maxNameLength = 5_000;

/** Loads the payments of the customers of a page. The page does not wait for them. */
export function useSpend(rows: readonly CustomerRow[] = []): SpendByUser {
  let length = 0;
  // A comma in a name is distinguished from those between names.
  const names = rows.map(({ applicationUsername }) => encodeURIComponent(applicationUsername));
  const requested = names.filter((name) => {
    length += name.length + 1;
    return length <= maxNameLength;
  });
  const applicationUsername = requested.join(',');
  const request = { query: { applicationUsername, include_spend: 'true' as const } };
  const { data } = useApi(endpoints.listCustomers, requested.length > 0 ? request : undefined);
  return new Map(data?.rows.map((row) => [row.applicationUsername, row.spend]));
}

/** Builds the column of the payments. The export does not contain it. */
export const buildSpendColumn = (spend: SpendByUser): Column<CustomerRow> => ({
  title: 'Paid',
  align: 'end',
  render: ({ applicationUsername }) => <Spend spend={spend.get(applicationUsername)} />,
});

/** The payments of a customer in US dollars. */
export const Spend = ({ spend }: { readonly spend: CustomerSpend | undefined }) =>
  spend === undefined ? (
    <None />
  ) : (
    <span title={spend.isComplete ? 'Less refunds, without sandbox purchases' : 'The latest 100 transactions'}>
      {!spend.isComplete && 'at least '}
      <Usd amount={spend.amountUSD} />
    </span>
  );
