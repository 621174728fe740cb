import * as v from 'valibot';
import { defineContract } from './contract.ts';
import { Id } from './identifiers.ts';
import { DateOrDateTime, PagingInformation, pagingQuery } from './paging.ts';
import { PurchaseNotification, TransactionRecord } from './purchase-records.ts';
import { emptyAsAbsent } from './schemas.ts';

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
  summary: 'List transactions by purchase date, oldest first, also of one purchase',
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
  }),
  response: v.strictObject({
    paging: PagingInformation,
    // Spec: not shown. `notifications` lists the lifecycle reasons of the transaction's purchase.
    rows: v.array(
      v.strictObject({ ...TransactionRecord.entries, notifications: v.exactOptional(v.array(PurchaseNotification)) }),
    ),
  }),
  isLongRunning: true,
  permissions: ['indexes'],
});
