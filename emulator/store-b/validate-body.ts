import { sign } from 'node:crypto';
import { controlError } from '../control-error.ts';
import { toObfuscatedAccountId } from './accounts.ts';
import { packageName } from './keys.ts';
import type { Purchase } from './records.ts';
import type { ResponseContext } from './response-context.ts';
import { getProduct } from './store-state.ts';

/** What a client can send: `store`, in the neutral words, or `brand`, in the words of clients that exist today. */
const types: Readonly<Record<string, string>> = { store: 'android-store', brand: 'android-playstore' };

/** The body that a client posts to have the purchase validated now, in the words that clients use. */
export function buildValidateBody(
  { state, keys }: ResponseContext,
  purchase: Purchase,
  form = 'store',
): Readonly<Record<string, unknown>> {
  const type = Object.hasOwn(types, form) ? types[form] : undefined;
  if (type === undefined) throw controlError(400, `form: expected one of ${Object.keys(types).join(', ')}.`);
  const product = getProduct(state, purchase.productId);
  const { id: purchaseToken, applicationUsername } = purchase;
  const receipt = JSON.stringify(buildReceipt(purchase));
  const signature = sign('sha1', Buffer.from(receipt), keys.licensePrivateKey).toString('base64');
  return {
    id: product.id,
    type: product.type,
    priceMicros: purchase.subscription?.priceMicros ?? product.priceMicros,
    currency: product.currency,
    transaction: { type, id: purchase.orders[0]?.id, purchaseToken, receipt, signature },
    ...(applicationUsername !== undefined && {
      additionalData: { applicationUsername, obfuscatedUsername: toObfuscatedAccountId(applicationUsername) },
    }),
  };
}

/** What the device got: the first order of a subscription, whatever was renewed since. */
function buildReceipt(purchase: Purchase): object {
  const { orders, productId, purchasedAt, isCancelled, id, applicationUsername, quantity, subscription } = purchase;
  return {
    orderId: orders[0]?.id,
    packageName,
    productId,
    purchaseTime: purchasedAt,
    purchaseState: isCancelled ? 1 : 0,
    purchaseToken: id,
    ...(applicationUsername !== undefined && { obfuscatedAccountId: toObfuscatedAccountId(applicationUsername) }),
    quantity,
    ...(subscription && { autoRenewing: subscription.autoRenew }),
    acknowledged: purchase.isAcknowledged,
  };
}
