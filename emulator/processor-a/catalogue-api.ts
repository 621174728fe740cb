import type Stripe from 'stripe';
import { apiError, missing } from './api-error.ts';
import { enter, newId } from './books.ts';
import { newPrice, newProduct, seconds } from './catalogue.ts';
import { type Form, innerOf, metadataOf, numberOf, onlyKnown, required, textOf } from './form.ts';
import type { Change } from './sales-api.ts';
import { type Shop, tellOf } from './shop.ts';

/** `POST /v1/products`. */
export function createProduct(shop: Shop, { form, at, livemode }: Change): Stripe.Product {
  onlyKnown(form, ['id', 'name', 'description', 'metadata', 'active']);
  const metadata = metadataOf(form.metadata);
  const terms = {
    id: textOf(form.id) ?? newId('prod', 14),
    name: required(form, 'name'),
    metadata,
    description: textOf(form.description) ?? null,
  };
  if (shop.books.objects.products.has(terms.id))
    throw apiError(400, 'Product already exists.', { code: 'resource_already_exists' });
  const product = { ...newProduct(terms, { at, livemode }), active: textOf(form.active) !== 'false' };
  tellOf(shop, 'product.created', { purchaseId: product.id, at, object: product });
  return enter(shop.books, 'products', product);
}

/** `POST /v1/prices`. */
export function createPrice(shop: Shop, { form, at, livemode }: Change): Stripe.Price {
  onlyKnown(form, ['product', 'currency', 'unit_amount', 'recurring', 'metadata']);
  const product = required(form, 'product');
  if (!shop.books.objects.products.has(product)) throw missing('product', product, 'product');
  const recurring = form.recurring === undefined ? null : recurrenceOf(innerOf(form.recurring));
  const days = textOf(innerOf(form.recurring).trial_period_days);
  const price = newPrice(
    {
      product,
      recurring,
      currency: required(form, 'currency'),
      amount: numberOf(required(form, 'unit_amount'), 0, 'unit_amount'),
      trialDays: days === undefined ? null : Number(days),
      metadata: metadataOf(form.metadata),
    },
    { at, livemode },
  );
  tellOf(shop, 'price.created', { purchaseId: product, at, object: price });
  return enter(shop.books, 'prices', price);
}

/** `POST /v1/products/{id}`. */
export function updateProduct(shop: Shop, id: string, { form, at }: Change): Stripe.Product {
  onlyKnown(form, ['name', 'description', 'metadata', 'active', 'expand']);
  const before = shop.books.objects.products.get(id);
  if (before === undefined) throw missing('product', id);
  const product: Stripe.Product = {
    ...before,
    name: textOf(form.name) ?? before.name,
    description: textOf(form.description) ?? before.description,
    metadata: { ...before.metadata, ...metadataOf(form.metadata) },
    active: activeOf(form, before.active),
    updated: seconds(at),
  };
  tellOf(shop, 'product.updated', { purchaseId: id, at, object: product, before });
  return enter(shop.books, 'products', product);
}

/** `POST /v1/prices/{id}`. */
export function updatePrice(shop: Shop, id: string, { form, at }: Change): Stripe.Price {
  onlyKnown(form, ['nickname', 'metadata', 'active', 'expand']);
  const before = shop.books.objects.prices.get(id);
  if (before === undefined) throw missing('price', id);
  const price: Stripe.Price = {
    ...before,
    nickname: textOf(form.nickname) ?? before.nickname,
    metadata: { ...before.metadata, ...metadataOf(form.metadata) },
    active: activeOf(form, before.active),
  };
  tellOf(shop, 'price.updated', { purchaseId: id, at, object: price, before });
  return enter(shop.books, 'prices', price);
}

const activeOf = ({ active }: Form, before: boolean): boolean => (active === undefined ? before : active === 'true');

function recurrenceOf(form: Form) {
  onlyKnown(form, ['interval', 'interval_count', 'trial_period_days'], 'recurring');
  return {
    interval: required(form, 'interval'),
    interval_count: numberOf(form.interval_count, 1, 'recurring[interval_count]'),
  };
}
