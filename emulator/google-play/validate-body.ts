import { sign } from 'node:crypto';
import { getProduct } from '../product.ts';
import type { ProductType } from '../purchase-order.ts';
import { buildAdditionalData, parseForm } from '../validate-body.ts';
import { toObfuscatedAccountId } from './accounts.ts';
import { packageName } from './keys.ts';
import { isPending } from './pending-payment.ts';
import type { Purchase } from './records.ts';
import type { ResponseContext } from './response-context.ts';

/** Transaction type by form: `store` uses neutral tokens, `brand` the brand tokens of existing clients. */
const types = { store: 'android-store', brand: 'android-playstore' } as const;
const forms = ['store', 'brand', 'wrong-type'] as const;

/** Product type that a faulty app sends, by the real type. */
const wrongTypes: Readonly<Record<ProductType, ProductType>> = {
  consumable: 'non consumable',
  'non consumable': 'consumable',
  'paid subscription': 'consumable',
  'non renewing subscription': 'consumable',
};

/** Builds the body that a client posts to `/v1/validate`. Throws 400 for an unknown form. */
export function buildValidateBody(
  { state, keys }: ResponseContext,
  purchase: Purchase,
  form = 'store',
): Readonly<Record<string, unknown>> {
  const parsedForm = parseForm(forms, form);
  const type = types[parsedForm === 'brand' ? 'brand' : 'store'];
  const product = getProduct(state, purchase.productId);
  const { id: purchaseToken, applicationUsername } = purchase;
  const receipt = JSON.stringify(buildReceipt(purchase));
  const signature = sign('sha1', Buffer.from(receipt), keys.licensePrivateKey).toString('base64');
  return {
    id: product.id,
    type: parsedForm === 'wrong-type' ? wrongTypes[product.type] : product.type,
    priceMicros: purchase.subscription?.priceMicros ?? product.priceMicros,
    currency: product.currency,
    transaction: { type, id: purchase.orders[0]?.id, purchaseToken, receipt, signature },
    ...buildAdditionalData(applicationUsername, toObfuscatedAccountId),
  };
}

/**
 * Builds the purchase on the device. For a subscription it has the first order, because renewals do not change it. A
 * pending purchase has the state 4 and does not have an order id yet.
 */
function buildReceipt(purchase: Purchase): object {
  const { orders, productId, purchasedAt, isCancelled, id, applicationUsername, quantity, subscription } = purchase;
  const isUnpaid = isPending(purchase);
  return {
    ...(!isUnpaid && { orderId: orders[0]?.id }),
    packageName,
    productId,
    purchaseTime: purchasedAt,
    purchaseState: isCancelled ? 1 : isUnpaid ? 4 : 0,
    purchaseToken: id,
    ...(applicationUsername !== undefined && { obfuscatedAccountId: toObfuscatedAccountId(applicationUsername) }),
    quantity,
    ...(subscription && { autoRenewing: subscription.autoRenew }),
    acknowledged: purchase.isAcknowledged,
  };
}
