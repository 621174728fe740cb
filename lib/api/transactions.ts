import * as v from 'valibot';
import { defineContract } from './contract.ts';
import { PlatformToken } from './enumerations.ts';
import { Id, Username } from './identifiers.ts';
import { cursorQuery, DateOrDateTime, NextCursor, PagingInformation, pagingQuery } from './paging.ts';
import { PurchaseNotification, TransactionRecord } from './purchase-records.ts';
import { emptyAsAbsent, QueryFlag } from './schemas.ts';

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

export const listTransactions = defineContract({
  id: 'list-transactions',
  area: 'transactions',
  summary: 'List transactions by purchase date, also of a purchase, a customer, a store or a product',
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
    platform: emptyAsAbsent(PlatformToken),
    productId: emptyAsAbsent(Id),
    refunded: QueryFlag,
    sandbox: QueryFlag,
    /** Adds the customers who own the purchase. */
    include_customers: QueryFlag,
  }),
  response: v.strictObject({
    /** With a filter, an order or a cursor, `total` is the number of rows of the page. */
    paging: PagingInformation,
    // Spec: not shown. `notifications` lists the lifecycle reasons of the transaction's purchase.
    rows: v.array(
      v.strictObject({
        ...TransactionRecord.entries,
        notifications: v.exactOptional(v.array(PurchaseNotification)),
        entitledUsers: v.exactOptional(v.array(v.string())),
      }),
    ),
    nextCursor: NextCursor,
  }),
  isLongRunning: true,
  permissions: ['indexes'],
});
