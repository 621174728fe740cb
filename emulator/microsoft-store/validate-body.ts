import { getProduct } from '../product.ts';
import { toUserUuid } from '../user-uuid.ts';
import { buildAdditionalData, parseForm, toBillingPeriod } from '../validate-body.ts';
import { skuId } from './collection-item.ts';
import type { Purchase } from './records.ts';
import type { ResponseContext } from './response-context.ts';
import { type StoreService, signStoreIdKey } from './store-id-keys.ts';
import { getAccount } from './store-state.ts';

/**
 * Forms of a `validate` body. `keys` has the StoreID key that the product needs and `both` has both keys. `brand` is
 * `keys` with the brand tokens of existing clients. `ticket` omits the keys, so the service returns a service ticket.
 */
const forms = ['keys', 'both', 'brand', 'ticket'] as const;
type Form = (typeof forms)[number];

/** Builds the body that a client posts to `/v1/validate`. Throws 400 for an unknown form. */
export function buildValidateBody(
  context: ResponseContext,
  purchase: Purchase,
  form = 'keys',
): Readonly<Record<string, unknown>> {
  const parsedForm = parseForm(forms, form);
  const product = getProduct(context.state, purchase.productId);
  const { applicationUsername } = getAccount(context.state, purchase);
  const type = parsedForm === 'brand' ? 'windows-store-transaction' : 'store_c-transaction';
  return {
    id: product.id,
    type: product.type,
    priceMicros: product.priceMicros,
    currency: product.currency,
    ...toBillingPeriod(product.period),
    transaction: { type, id: product.id, storeId: product.id, skuId: `${product.id}/${skuId}` },
    ...(parsedForm !== 'ticket' && { license: buildLicense(context, purchase, parsedForm) }),
    ...buildAdditionalData(applicationUsername, toUserUuid),
  };
}

function buildLicense(context: ResponseContext, purchase: Purchase, form: Form): object {
  const account = getAccount(context.state, purchase);
  const userId = account.applicationUsername ?? account.id;
  const signKey = (service: StoreService): string =>
    signStoreIdKey(context, service, { account, userId, clientId: context.keys.clientId });
  const isSubscription = purchase.recurrence !== undefined;
  return {
    ...(form === 'brand' && { type: 'windows-store-license' }),
    ...((form === 'both' || !isSubscription) && { storeIdKey_collections: signKey('collections') }),
    // Existing clients use the singular name.
    ...((form === 'both' || isSubscription) && {
      [form === 'brand' ? 'storeIdKey_purchase' : 'storeIdKey_purchases']: signKey('purchase'),
    }),
  };
}
