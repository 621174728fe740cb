import { omitUndefined } from '../../foundation/omit-undefined.ts';
import type { TransactionPayload } from './payloads.ts';
import type { StoreTransaction } from './store-transaction.ts';
import { countRevokedSeats } from './transaction-refunds.ts';

type SeatFields = Pick<StoreTransaction, 'sharesPeriod' | 'isSeatAddition' | 'revokedSeats'>;

/**
 * Seats that are added to a running period make another transaction, which does not replace the first one. All of
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
