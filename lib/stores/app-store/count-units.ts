import type { TransactionGroup } from './group-by-purchase.ts';
import type { StoreTransaction } from './store-transaction.ts';

/** Lists the transactions of the current period. */
const listPeriodTransactions = ({ latest, transactions }: TransactionGroup): StoreTransaction[] =>
  latest.sharesPeriod
    ? transactions.filter(({ sharesPeriod, expiresDate }) => sharesPeriod && expiresDate === latest.expiresDate)
    : [latest];

/** Returns the units of the latest transaction, or the seats of the period that are not refunded. */
export function countUnits(group: TransactionGroup): number | undefined {
  const { sharesPeriod, revokedSeats, quantity } = group.latest;
  if (!sharesPeriod && !revokedSeats) return quantity;
  return listPeriodTransactions(group).reduce((sum, transaction) => sum + countValidSeats(transaction), 0);
}

const countValidSeats = ({ quantity = 1, revokedSeats = 0, revokedAt }: StoreTransaction): number =>
  revokedAt === undefined ? quantity - revokedSeats : 0;
