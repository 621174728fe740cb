import type { TransactionPayload } from './payloads.ts';

/** Factor from Apple's thousandths of a currency unit to millionths. */
export const microsPerMilliunit = 1000;

/**
 * Returns the payment of a transaction. For a multiseat purchase it is the sum over the price tiers: `price` is the
 * average of a seat there. Undefined if the payload lacks a price.
 * @see https://developer.apple.com/documentation/appstoreserverapi/transactionmultiseatinfo
 */
export function toAmountMicros({ price, quantity = 1, multiSeatInfo }: TransactionPayload): number | undefined {
  const tiers = multiSeatInfo?.priceTiers ?? [];
  if (tiers.length > 0) return tiers.reduce((sum, tier) => sum + tier.price * tier.quantity, 0) * microsPerMilliunit;
  if (price === undefined) return undefined;
  return price * microsPerMilliunit * (multiSeatInfo ? quantity : 1);
}
