import type { ComponentChildren } from 'preact';
import type { TransactionRecord } from '../../../lib/purchases/transaction-contract.ts';
import { type Column, type CursorPaging, DataTable } from '../../components/data-table.tsx';
import { CopyItem } from '../../components/menu.tsx';
import { Badge, CopyId, DateTime, Money, None, Platform, shorten, type Tone } from '../../components/values.tsx';
import { formatMoney, formatProductId, isStore } from '../../format.ts';
import { Link } from '../../router.tsx';
import { CustomerLink } from '../customer-column.tsx';
import { isRefundedInFull } from '../purchase/describe-purchase.ts';
import { PurchaseMenu } from '../purchase-menu.tsx';

/** A transaction, with the customers who own its purchase if the list has them. */
type TransactionRow = TransactionRecord & { readonly entitledUsers?: readonly string[] };

interface TransactionTableProps {
  readonly caption: string;
  readonly rows: readonly TransactionRow[] | undefined;
  readonly isStale?: boolean;
  readonly error?: unknown;
  readonly onRetry?: () => void;
  readonly empty: ComponentChildren;
  readonly pages?: CursorPaging<TransactionRow>;
  readonly fileName: string;
  /** Shows the ids and periods instead of the columns that are equal in all rows. The file has all columns. */
  readonly isOfOnePurchase?: boolean;
  readonly showsCustomers?: boolean;
  readonly placeholderRows?: number;
}

/** Transactions with their amounts in the viewer's format and in US dollars. */
export const TransactionTable = ({
  isOfOnePurchase = false,
  showsCustomers = false,
  ...props
}: TransactionTableProps) => (
  <DataTable
    {...props}
    columns={hideColumns(isOfOnePurchase ? purchaseColumns : paymentColumns).filter(
      ({ title }) => showsCustomers || title !== 'Customer',
    )}
    renderMenu={({ purchaseId, transactionId }) => (
      <>
        <PurchaseMenu purchaseId={purchaseId} />
        <CopyItem value={transactionId} name="transaction id" />
      </>
    )}
    // Purchases of one order share the id of the transaction.
    getKey={({ purchaseId, transactionId }) => JSON.stringify([purchaseId, transactionId])}
  />
);

const purchaseColumns: readonly string[] = ['Product', 'Store', 'Purchase'];
const paymentColumns: readonly string[] = ['Period until', 'Purchase', 'Transaction'];

/** Returns the columns. The named ones are shown if the user chooses them. */
const hideColumns = (hidden: readonly string[]): Column<TransactionRow>[] =>
  columns.map((column) => ({ ...column, isHidden: hidden.includes(column.title) }));

const columns: readonly Column<TransactionRow>[] = [
  {
    title: 'Date',
    isRowHeader: true,
    render: ({ purchaseDate }) => <DateTime value={purchaseDate} kind="minute" />,
    csv: ({ purchaseDate }) => purchaseDate,
  },
  {
    title: 'Customer',
    render: ({ entitledUsers = [] }) => <Owners users={entitledUsers} />,
    csv: ({ entitledUsers = [] }) => entitledUsers.join(', '),
  },
  {
    title: 'Product',
    render: ({ productId, purchaseId }) => (
      <Link to="/purchases/:id" params={{ id: purchaseId }}>
        {formatProductId(productId)}
      </Link>
    ),
    csv: ({ productId }) => productId,
  },
  { title: 'Store', render: ({ platform }) => <Platform value={platform} />, csv: ({ platform }) => platform },
  {
    title: 'Amount',
    align: 'end',
    render: ({ amountMicros, currency, amountUSD }) => (
      <Money amountMicros={amountMicros} currency={currency} amountUsd={amountUSD} />
    ),
    csv: ({ amountMicros }) => (amountMicros === null ? undefined : amountMicros / 1_000_000),
  },
  { title: 'Offer', csv: ({ offerId }) => offerId ?? undefined },
  { title: 'Currency', csv: ({ currency }) => currency },
  { title: 'Amount in USD', csv: ({ amountUSD }) => amountUSD },
  {
    title: 'State',
    render: (transaction) => <TransactionState transaction={transaction} />,
    csv: (transaction) => describeState(transaction),
  },
  {
    title: 'Period until',
    render: ({ expirationDate }) => <DateTime value={expirationDate} kind="day" />,
    csv: ({ expirationDate }) => expirationDate,
  },
  {
    title: 'Purchase',
    render: ({ purchaseId }) => (
      <CopyId value={purchaseId} label="purchase id">
        <Link to="/purchases/:id" params={{ id: purchaseId }}>
          {shorten(purchaseId, 22)}
        </Link>
      </CopyId>
    ),
    csv: ({ purchaseId }) => purchaseId,
  },
  {
    title: 'Transaction',
    render: ({ transactionId }) => (
      <CopyId value={transactionId} label="transaction id">
        {shorten(transactionId, 22)}
      </CopyId>
    ),
    csv: ({ transactionId }) => transactionId,
  },
  {
    title: 'Refunded',
    csv: ({ refundedAmountMicros }) =>
      refundedAmountMicros === undefined ? undefined : refundedAmountMicros / 1_000_000,
  },
  { title: 'Sandbox', csv: ({ sandbox }) => sandbox },
];

/** The first owner, and the number of others. */
function Owners({ users: [first, ...further] }: { readonly users: readonly string[] }) {
  if (first === undefined) return <None />;
  return (
    <>
      <CustomerLink user={first} />
      {further.length > 0 && <span class="quiet"> and {further.length} more</span>}
    </>
  );
}

/** Returns the offer. Google Play names it after the base plan. The other stores have ids of regular prices. */
const findOffer = ({ platform, offerId }: TransactionRecord): string | undefined =>
  isStore(platform, 'store_a') ? (offerId ?? undefined) : offerId?.split('@')[1];

/** Lists refunds and everything else that distinguishes a transaction from a paid one. */
function listStates(transaction: TransactionRecord): { readonly text: string; readonly tone: Tone }[] {
  const { refundDate, refundedAmountMicros, currency } = transaction;
  const offer = findOffer(transaction);
  const refund =
    refundedAmountMicros !== undefined && currency && !isRefundedInFull(transaction)
      ? `Refunded ${formatMoney(refundedAmountMicros, currency)}`
      : 'Refunded';
  return [
    ...(refundDate === undefined ? [] : [{ text: refund, tone: 'bad' as const }]),
    ...(transaction.isPending ? [{ text: 'Pending', tone: 'warn' as const }] : []),
    ...(transaction.isTrialPeriod ? [{ text: 'Trial', tone: 'info' as const }] : []),
    ...(transaction.isIntroPeriod ? [{ text: 'Introductory price', tone: 'info' as const }] : []),
    ...(offer ? [{ text: `Offer ${offer}`, tone: 'neutral' as const }] : []),
    ...(transaction.sandbox ? [{ text: 'Sandbox', tone: 'neutral' as const }] : []),
  ];
}

const describeState = (transaction: TransactionRecord): string =>
  listStates(transaction)
    .map(({ text }) => text)
    .join(', ');

const TransactionState = ({ transaction }: { readonly transaction: TransactionRecord }) => {
  const states = listStates(transaction);
  if (states.length === 0) return <None />;
  return (
    <>
      {states.map(({ text, tone }) => (
        <Badge key={text} tone={tone}>
          {text}
        </Badge>
      ))}
    </>
  );
};
