import * as v from 'valibot';
import { contract } from './contract.ts';
import { TransactionRecord } from './records.ts';
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
