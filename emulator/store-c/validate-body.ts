import { controlError } from '../control-error.ts';
import { toUserUuid } from '../user-uuid.ts';
import type { Product, Purchase } from './records.ts';
import type { ResponseContext } from './response-context.ts';
import { type StoreService, signStoreIdKey } from './store-id-keys.ts';
import { getAccount, getProduct } from './store-state.ts';

/**
 * What a client can send: `keys`, the one StoreID key that its product needs; `both` of them; `brand`, the same as `keys`
 * in the words of clients that exist today; `ticket`, none yet, so that the service answers with a ticket to make one.
 */
const forms = ['keys', 'both', 'brand', 'ticket'] as const;
type Form = (typeof forms)[number];

const isForm = (form: string): form is Form => (forms as readonly string[]).includes(form);

/** The body that a client posts to have the purchase validated now, in the words that clients use. */
export function buildValidateBody(
  context: ResponseContext,
  purchase: Purchase,
  form = 'keys',
): Readonly<Record<string, unknown>> {
  if (!isForm(form)) throw controlError(400, `form: expected one of ${forms.join(', ')}.`);
  const product = getProduct(context.state, purchase);
  const { applicationUsername } = getAccount(context.state, purchase);
  const type = form === 'brand' ? 'windows-store-transaction' : 'store_c-transaction';
  return {
    id: product.id,
    type: product.type,
    priceMicros: product.priceMicros,
    currency: product.currency,
    ...billingPeriod(product.period),
    transaction: { type, id: product.id, storeId: product.id, skuId: `${product.id}/0010` },
    ...(form !== 'ticket' && { license: buildLicense(context, purchase, form) }),
    ...(applicationUsername !== undefined && {
      additionalData: { applicationUsername, obfuscatedUsername: toUserUuid(applicationUsername) },
    }),
  };
}

function buildLicense(context: ResponseContext, purchase: Purchase, form: Form): object {
  const account = getAccount(context.state, purchase);
  const userId = account.applicationUsername ?? account.id;
  const key = (service: StoreService): string =>
    signStoreIdKey(context, service, { account, userId, clientId: context.keys.clientId });
  const isPurchase = purchase.recurrence !== undefined;
  return {
    ...(form === 'brand' && { type: 'windows-store-license' }),
    ...((form === 'both' || !isPurchase) && { storeIdKey_collections: key('collections') }),
    // The client that exists today spells it in the singular.
    ...((form === 'both' || isPurchase) && {
      [form === 'brand' ? 'storeIdKey_purchase' : 'storeIdKey_purchases']: key('purchase'),
    }),
  };
}

function billingPeriod(period: Product['period'] = ''): object {
  const [, count, unit = ''] = /^P(\d+)([DWMY])$/.exec(period) ?? [];
  return count === undefined ? {} : { billingPeriod: Number(count), billingPeriodUnit: units[unit] };
}

const units: Readonly<Record<string, string>> = { D: 'Day', W: 'Week', M: 'Month', Y: 'Year' };
