import * as v from 'valibot';
import { contract } from './contract.ts';
import { given, Moment, PagingInformation, pagingQuery } from './paging.ts';
import { PurchaseNotification, TransactionRecord } from './records.ts';
import { Id } from './username.ts';

export const getTransaction = contract({
  id: 'get-transaction',
  area: 'transactions',
  summary: 'One transaction',
  method: 'GET',
  path: '/v3/transactions/:transactionId',
  aliases: ['/v2/transactions/:transactionId'],
  key: 'secret',
  dialect: 'default',
  eventType: 'transaction.read',
  params: v.object({ transactionId: Id }),
  response: TransactionRecord,
  needs: ['indexes'],
});

const { limit, skip, offset } = pagingQuery;

export const listTransactions = contract({
  id: 'list-transactions',
  area: 'transactions',
  summary: 'Transactions by the date of the purchase, oldest first',
  method: 'GET',
  path: '/v3/transactions',
  aliases: ['/v2/transactions'],
  key: 'secret',
  dialect: 'default',
  eventType: 'transaction.read',
  query: v.object({
    startdate: given(Moment),
    enddate: given(Moment),
    limit,
    skip,
    offset,
    include_notifications: v.optional(v.string()),
  }),
  response: v.strictObject({
    paging: PagingInformation,
    // Spec: not shown. The related notifications are those of the transaction's purchase.
    rows: v.array(
      v.strictObject({ ...TransactionRecord.entries, notifications: v.exactOptional(v.array(PurchaseNotification)) }),
    ),
  }),
  isHeavy: true,
  needs: ['indexes'],
});
