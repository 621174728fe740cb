import { createHash } from 'node:crypto';
import { ServiceError } from '../../shared/errors.ts';
import type { ValidationRequest } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { parseEvidence } from './evidence.ts';
import { toMicros } from './money.ts';
import { type CatalogueProduct, type ProcessorBSettings, parseStoredSettings } from './settings.ts';

/** A charge for one nonce, at the price of the catalogue. */
export interface Order {
  /** Idempotency key, derived from the app and the nonce. Identifies the payment at Braintree. */
  readonly key: string;
  readonly nonce: string;
  readonly productId: string;
  readonly product: CatalogueProduct;
  readonly deviceData?: string;
}

/** Parses the order of a request. Throws `InvalidPayload` if the request does not match the catalogue. */
export function parseOrder(
  request: ValidationRequest,
  { appName, settings }: Pick<StoreContext, 'appName' | 'settings'>,
): Order {
  const { catalogue } = parseStoredSettings(settings);
  const { paymentMethodNonce: nonce, deviceData } = parseEvidence(request.transaction);
  return {
    key: hashParts(appName, 'nonce', nonce),
    nonce,
    productId: request.id,
    product: findCatalogueProduct(request, catalogue),
    ...(deviceData !== undefined && deviceData !== null && { deviceData: toText(deviceData) }),
  };
}

// Spec: not shown. The catalogue's type applies, because existing clients send `consumable` for every product.
function findCatalogueProduct(
  { id, priceMicros, currency }: ValidationRequest,
  catalogue: ProcessorBSettings['catalogue'],
): CatalogueProduct {
  const product = Object.hasOwn(catalogue, id) ? catalogue[id] : undefined;
  if (!product) throw new ServiceError('InvalidPayload', 'id is not found in the catalogue.');
  const isOtherPrice = priceMicros !== undefined && priceMicros !== toMicros(product.amount);
  if (isOtherPrice || (currency !== undefined && currency !== product.currency)) {
    throw new ServiceError(
      'InvalidPayload',
      'priceMicros and currency must match the catalogue. The payment method was not charged.',
    );
  }
  return product;
}

const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Returns 32 characters, because Braintree's ids have at most 36 and allow few characters. */
const hashParts = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
