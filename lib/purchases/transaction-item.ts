import * as v from 'valibot';
import { OptionalTrue } from '../api/schemas.ts';
import { parse } from '../foundation/parse.ts';
import type { Item } from '../foundation/table.ts';
import { PaymentFigures } from './payment-figures.ts';
import { Transaction } from './transaction.ts';

/** A stored transaction. A reader picks the attributes that it needs. */
export const TransactionItem = v.object({
  transaction: Transaction,
  asOf: v.number(),
  isInferred: OptionalTrue,
  amountAsOf: v.number(),
  isAmountInferred: OptionalTrue,
  figures: v.exactOptional(PaymentFigures),
});

const ListedTransaction = v.pick(TransactionItem, ['transaction']);

/** Parses the transaction of an item. Throws `DatabaseError` if it does not match the schema. */
export const parseTransactionItem = (item: Item): Transaction =>
  parse(ListedTransaction, item, 'DatabaseError').transaction;
