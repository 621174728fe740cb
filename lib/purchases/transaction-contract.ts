import * as v from 'valibot';
import { defineContract } from '../api/contract.ts';
import {
  type ApiPart,
  describeObject,
  describeOperation,
  filterNote,
  includeNotifications,
  nextCursor,
  orderParameters,
  pagingParameters,
  unreadableIds,
} from '../api/describe.ts';
import {
  cursorQuery,
  DateOrDateTime,
  NextCursor,
  PagingInformation,
  pagingQuery,
  UnreadableIds,
} from '../api/paging.ts';
import {
  DateTime,
  emptyAsAbsent,
  Id,
  OptionalBoolean,
  OptionalDateTime,
  OptionalNumber,
  PlatformParam,
  PlatformToken,
  QueryFlag,
  RenewalIntent,
  Username,
} from '../api/schemas.ts';
import { PurchaseNotification } from './purchase-contract.ts';

export const TransactionRecord = v.strictObject({
  transactionId: v.string(),
  purchaseId: v.string(),
  productId: v.string(),
  offerId: v.exactOptional(v.nullable(v.string())),
  platform: PlatformToken,
  sandbox: v.boolean(),
  purchaseDate: DateTime,
  expirationDate: OptionalDateTime,
  isPending: OptionalBoolean,
  isTrialPeriod: OptionalBoolean,
  isIntroPeriod: OptionalBoolean,
  quantity: OptionalNumber,
  amountUSD: v.nullable(v.number()),
  amountMicros: v.nullable(v.number()),
  currency: v.nullable(v.string()),
  // Spec: not shown. Tax within `amountMicros`, if the store reports it.
  taxMicros: OptionalNumber,
  isReportedAmount: OptionalBoolean,
  // Spec: not shown. State of the purchase, for its latest transaction only.
  isBillingRetryPeriod: OptionalBoolean,
  isAcknowledged: OptionalBoolean,
  renewalIntent: v.exactOptional(RenewalIntent),
  lastRenewalDate: OptionalDateTime,
  // Spec: not shown. The part of `amountMicros` that was refunded, and the date of the latest refund.
  refundedAmountMicros: OptionalNumber,
  refundDate: OptionalDateTime,
});
export type TransactionRecord = v.InferOutput<typeof TransactionRecord>;

export const getTransaction = defineContract({
  id: 'get-transaction',
  area: 'transactions',
  summary: 'Get a transaction',
  method: 'GET',
  path: '/v3/transactions/:transactionId',
  aliases: ['/v2/transactions/:transactionId'],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'transaction.read',
  params: v.object({ transactionId: Id }),
  response: TransactionRecord,
  permissions: ['indexes'],
});

const { limit, skip, offset } = pagingQuery;

// Spec: not shown. `notifications` lists the lifecycle reasons of the transaction's purchase.
const TransactionRow = v.strictObject({
  ...TransactionRecord.entries,
  notifications: v.exactOptional(v.array(PurchaseNotification)),
  entitledUsers: v.exactOptional(v.array(v.string())),
});

const TransactionList = v.strictObject({
  /** With a filter, an order or a cursor, `total` is the number of rows of the page. */
  paging: PagingInformation,
  rows: v.array(TransactionRow),
  nextCursor: NextCursor,
  unreadableIds: UnreadableIds,
});

export const listTransactions = defineContract({
  id: 'list-transactions',
  area: 'transactions',
  summary: 'List transactions by purchase date',
  method: 'GET',
  path: '/v3/transactions',
  aliases: ['/v2/transactions'],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'transaction.read',
  query: v.object({
    startdate: emptyAsAbsent(DateOrDateTime),
    enddate: emptyAsAbsent(DateOrDateTime),
    limit,
    skip,
    offset,
    include_notifications: v.optional(v.string()),
    // Spec: not shown. Clients send it to select the transactions of a purchase.
    purchaseId: emptyAsAbsent(Id),
    // Spec: not shown. With one of these, the rows are read by cursor, and `skip` is ignored.
    ...cursorQuery,
    applicationUsername: emptyAsAbsent(Username),
    platform: emptyAsAbsent(PlatformParam),
    productId: emptyAsAbsent(Id),
    refunded: QueryFlag,
    sandbox: QueryFlag,
    /** Adds the customers who own the purchase. */
    include_customers: QueryFlag,
  }),
  response: TransactionList,
  isLongRunning: true,
  permissions: ['indexes'],
});

const transactionTexts = {
  transactionId: ['Id of the transaction with its platform prefix.', 'store_a:2000000987654321'],
  purchaseId: ['Id of its purchase with the platform prefix.', 'store_a:2000000123456789'],
  productId: ['Product with its platform prefix, `{platform}:{productId}`.', 'store_a:premium'],
  offerId: ['Offer, `{platform}:{productId}#{offerId}`, or null if there is none.', 'store_a:premium#winter-sale'],
  platform: ['Store of the transaction.'],
  sandbox: ["Whether it was made in the store's sandbox.", false],
  purchaseDate: ['Date of the payment.', '2026-02-15T09:30:00.000Z'],
  expirationDate: ['End of the paid period.', '2026-03-15T09:30:00.000Z'],
  isPending: ['The payment is pending.', false],
  isTrialPeriod: ['It starts a free trial.', false],
  isIntroPeriod: ['It starts an introductory period.', false],
  quantity: ['Number of purchased units.', 1],
  amountUSD: ['Amount in US dollars at the rate of the day of purchase, or null if it is unknown.', 5.42, 'decimal'],
  amountMicros: ['Amount in millionths of `currency`, or null if it is unknown.', 4990000],
  currency: ['ISO 4217 code, or null if it is unknown.', 'EUR'],
  isReportedAmount: ['The client reported the amount, because the store does not return it.', false],
  isBillingRetryPeriod: ['State of the purchase, at its latest transaction: whether it is in its grace period.', false],
  isAcknowledged: ['State of the purchase, at its latest transaction: whether it is acknowledged at the store.', true],
  renewalIntent: ['State of the purchase, at its latest transaction: whether it will renew.'],
  lastRenewalDate: [
    'State of the purchase, at its latest transaction: date of the latest renewal.',
    '2026-02-15T09:30:00.000Z',
  ],
  taxMicros: ['Tax within `amountMicros`. Absent if the store does not report it.', 830000],
  refundedAmountMicros: ['Refunded part of `amountMicros`.', 4990000],
  refundDate: ['Date of the latest refund.', '2026-02-18T12:00:00.000Z'],
} as const;

const descriptions = [
  describeObject('Transaction', TransactionRecord, 'An operation that starts or renews a purchase.', transactionTexts),
  describeObject('TransactionList', TransactionList, 'A page of transactions.', {
    paging: ['Position of the page.'],
    rows: ['The transactions of the page.'],
    nextCursor,
    unreadableIds,
  }),
  describeObject('TransactionRow', TransactionRow, 'A transaction in a list.', {
    ...transactionTexts,
    notifications: ['Lifecycle notifications of its purchase. Only present with `include_notifications=true`.'],
    entitledUsers: ['The customers who own its purchase. Only present with `include_customers=true`.', ['alice']],
  }),
];

const operations = [
  describeOperation(listTransactions, {
    description: `Lists the transactions of the app by date of purchase, oldest first. ${filterNote}`,
    query: {
      ...pagingParameters,
      ...orderParameters,
      applicationUsername: ['Selects the transactions of the purchases that a customer owns.', 'alice'],
      platform: ['Selects the transactions of a store.', 'store_a'],
      productId: ['Selects the transactions of a product, with or without the platform prefix.', 'premium'],
      refunded: ['`true` selects refunded transactions, also in part, `false` the others.', 'true'],
      sandbox: ['`false` leaves out transactions of a sandbox, `true` selects them.', 'false'],
      include_customers: ['Rows list the customers who own the purchase. Only `true` lists them.', 'true'],
      startdate: ['Selects transactions at or after this date.', '2026-01-01T00:00:00Z'],
      enddate: ['Selects transactions before this date.', '2026-02-01T00:00:00Z'],
      include_notifications: includeNotifications,
      purchaseId: ['Selects the transactions of a purchase.', 'store_a:2000000123456789'],
    },
  }),
  describeOperation(getTransaction, {
    description: 'Returns a transaction.',
    params: { transactionId: ['Transaction id with its platform prefix.', 'store_a:2000000987654321'] },
    errors: { 404: ['The transaction is not found.'] },
  }),
];

export const transactionApi: ApiPart = { descriptions, operations };
