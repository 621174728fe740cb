import type Stripe from 'stripe';
import { generateId, saveObject } from './account-objects.ts';
import { type AccountState, emitEvent } from './account-state.ts';
import { apiError, notFoundError } from './api-error.ts';
import { buildPrice, buildProduct, toSeconds } from './catalogue.ts';
import type { ApiWrite } from './checkout-api.ts';
import { type Form, readForm, readMetadata, readNumber, readText, rejectUnknownParams, requireText } from './form.ts';

/** `POST /v1/products`. */
export function createProduct(state: AccountState, { form, at, livemode }: ApiWrite): Stripe.Product {
  rejectUnknownParams(form, ['id', 'name', 'description', 'metadata', 'active']);
  const metadata = readMetadata(form.metadata);
  const terms = {
    id: readText(form.id) ?? generateId('prod', 14),
    name: requireText(form, 'name'),
    metadata,
    description: readText(form.description) ?? null,
  };
  if (state.records.objects.products.has(terms.id))
    throw apiError(400, 'Product already exists.', { code: 'resource_already_exists' });
  const product = { ...buildProduct(terms, { at, livemode }), active: readText(form.active) !== 'false' };
  emitEvent(state, 'product.created', { purchaseId: product.id, at, object: product });
  return saveObject(state.records, 'products', product);
}

/** `POST /v1/prices`. */
export function createPrice(state: AccountState, { form, at, livemode }: ApiWrite): Stripe.Price {
  rejectUnknownParams(form, ['product', 'currency', 'unit_amount', 'recurring', 'metadata']);
  const product = requireText(form, 'product');
  if (!state.records.objects.products.has(product)) throw notFoundError('product', product, 'product');
  const recurring = form.recurring === undefined ? null : readRecurrence(readForm(form.recurring));
  const days = readText(readForm(form.recurring).trial_period_days);
  const price = buildPrice(
    {
      product,
      recurring,
      currency: requireText(form, 'currency'),
      amount: readNumber(requireText(form, 'unit_amount'), 0, 'unit_amount'),
      trialDays: days === undefined ? null : Number(days),
      metadata: readMetadata(form.metadata),
    },
    { at, livemode },
  );
  emitEvent(state, 'price.created', { purchaseId: product, at, object: price });
  return saveObject(state.records, 'prices', price);
}

/** `POST /v1/products/{id}`. */
export function updateProduct(state: AccountState, id: string, { form, at }: ApiWrite): Stripe.Product {
  rejectUnknownParams(form, ['name', 'description', 'metadata', 'active', 'expand']);
  const before = state.records.objects.products.get(id);
  if (before === undefined) throw notFoundError('product', id);
  const product: Stripe.Product = {
    ...before,
    name: readText(form.name) ?? before.name,
    description: readText(form.description) ?? before.description,
    metadata: { ...before.metadata, ...readMetadata(form.metadata) },
    active: readActive(form, before.active),
    updated: toSeconds(at),
  };
  emitEvent(state, 'product.updated', { purchaseId: id, at, object: product, before });
  return saveObject(state.records, 'products', product);
}

/** `POST /v1/prices/{id}`. */
export function updatePrice(state: AccountState, id: string, { form, at }: ApiWrite): Stripe.Price {
  rejectUnknownParams(form, ['nickname', 'metadata', 'active', 'expand']);
  const before = state.records.objects.prices.get(id);
  if (before === undefined) throw notFoundError('price', id);
  const price: Stripe.Price = {
    ...before,
    nickname: readText(form.nickname) ?? before.nickname,
    metadata: { ...before.metadata, ...readMetadata(form.metadata) },
    active: readActive(form, before.active),
  };
  emitEvent(state, 'price.updated', { purchaseId: id, at, object: price, before });
  return saveObject(state.records, 'prices', price);
}

const readActive = ({ active }: Form, before: boolean): boolean => (active === undefined ? before : active === 'true');

function readRecurrence(form: Form) {
  rejectUnknownParams(form, ['interval', 'interval_count', 'trial_period_days'], 'recurring');
  return {
    interval: requireText(form, 'interval'),
    interval_count: readNumber(form.interval_count, 1, 'recurring[interval_count]'),
  };
}
