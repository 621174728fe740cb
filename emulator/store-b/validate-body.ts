import { sign } from 'node:crypto';
import { refusal } from '../refusal.ts';
import { obfuscatedAccountId } from './accounts.ts';
import { productNamed } from './books.ts';
import { packageName } from './keys.ts';
import type { Purchase } from './records.ts';
import type { Source } from './source.ts';

/** What a client can send: `store`, in the neutral words, or `brand`, in the words of clients that exist today. */
const types: Readonly<Record<string, string>> = { store: 'android-store', brand: 'android-playstore' };

/** The body that a client posts to have the purchase validated now, in the words that clients use. */
export function validateBody(
  { books, keys }: Source,
  purchase: Purchase,
  form = 'store',
): Readonly<Record<string, unknown>> {
  const type = Object.hasOwn(types, form) ? types[form] : undefined;
  if (type === undefined) throw refusal(400, `form: expected one of ${Object.keys(types).join(', ')}.`);
  const product = productNamed(books, purchase.productId);
  const { id: purchaseToken, applicationUsername } = purchase;
  const receipt = JSON.stringify(receiptOf(purchase));
  const signature = sign('sha1', Buffer.from(receipt), keys.licencePrivateKey).toString('base64');
  return {
    id: product.id,
    type: product.type,
    priceMicros: purchase.subscription?.priceMicros ?? product.priceMicros,
    currency: product.currency,
    transaction: { type, id: purchase.orders[0]?.id, purchaseToken, receipt, signature },
    ...(applicationUsername !== undefined && {
      additionalData: { applicationUsername, obfuscatedUsername: obfuscatedAccountId(applicationUsername) },
    }),
  };
}

/** What the device got: the first order of a subscription, whatever was renewed since. */
function receiptOf(purchase: Purchase): object {
  const { orders, productId, purchasedAt, isCancelled, id, applicationUsername, quantity, subscription } = purchase;
  return {
    orderId: orders[0]?.id,
    packageName,
    productId,
    purchaseTime: purchasedAt,
    purchaseState: isCancelled ? 1 : 0,
    purchaseToken: id,
    ...(applicationUsername !== undefined && { obfuscatedAccountId: obfuscatedAccountId(applicationUsername) }),
    quantity,
    ...(subscription && { autoRenewing: subscription.autoRenew }),
    acknowledged: purchase.isAcknowledged,
  };
}
