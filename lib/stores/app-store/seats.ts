import { omitUndefined } from '../../shared/omit-undefined.ts';
import type { TransactionGroup } from './group-by-purchase.ts';
import type { TransactionPayload } from './payloads.ts';
import type { StoreTransaction } from './store-transaction.ts';
import { countRevokedSeats } from './transaction-refunds.ts';

type SeatFields = Pick<StoreTransaction, 'sharesPeriod' | 'isSeatAddition' | 'revokedSeats'>;

/**
 * Seats that are added to a running period make a further transaction, which does not replace the first one. All of
 * them have the reason.
 * @see https://developer.apple.com/documentation/appstoreserverapi/additionaltransactionreason
 */
export function toSeatFields(payload: TransactionPayload): SeatFields {
  const { additionalTransactionReason, transactionReason, transactionId, originalTransactionId } = payload;
  const sharesPeriod = additionalTransactionReason !== undefined;
  const isAddition = sharesPeriod && transactionReason === 'PURCHASE' && transactionId !== originalTransactionId;
  return omitUndefined({
    sharesPeriod: sharesPeriod || undefined,
    isSeatAddition: isAddition || undefined,
    revokedSeats: countRevokedSeats(payload) || undefined,
  });
}

/** Lists the transactions of the current period. */
export const listPeriodTransactions = ({ latest, transactions }: TransactionGroup): StoreTransaction[] =>
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
