import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { ServiceError } from '../../shared/errors.ts';
import { parse } from '../../shared/parse.ts';
import type { ValidationRequest } from '../store.ts';
import type { StoreContext } from '../store-context.ts';
import { type CatalogueProduct, type ProcessorBSettings, parseStoredSettings } from './settings.ts';

const Receipt = v.object({
  paymentMethodNonce: v.pipe(v.string(), v.minLength(1), v.maxLength(1_000)),
  deviceData: v.optional(v.unknown()),
});

/** What is to be charged for one nonce, at the catalogue's price. */
export interface Order {
  /** Of the application and the nonce: names the payment at the processor, so that it is found again. */
  readonly key: string;
  readonly nonce: string;
  readonly productId: string;
  readonly product: CatalogueProduct;
  readonly customerId: string;
  readonly deviceData?: string;
}

/** The order of a request; throws `InvalidPayload` when the request and the catalogue disagree. */
export function parseOrder(
  request: ValidationRequest,
  { appName, settings }: Pick<StoreContext, 'appName' | 'settings'>,
): Order {
  const { catalogue } = parseStoredSettings(settings);
  const { paymentMethodNonce: nonce, deviceData } = parse(Receipt, request.transaction);
  const key = hashParts(appName, 'nonce', nonce);
  return {
    key,
    nonce,
    productId: request.id,
    product: findCatalogueProduct(request, catalogue),
    // A buyer without a name is a customer of this one payment.
    customerId:
      request.applicationUsername === undefined ? key : deriveCustomerId(appName, request.applicationUsername),
    ...(deviceData !== undefined && deviceData !== null && { deviceData: toText(deviceData) }),
  };
}

/** The processor's customer id of a user: ids allow few characters, so it is a digest. */
const deriveCustomerId = (appName: string, applicationUsername: string): string =>
  hashParts(appName, 'user', applicationUsername);

// Spec: not shown. Clients that exist today call everything a consumable, so the catalogue's type holds, not the request's.
function findCatalogueProduct(
  { id, priceMicros, currency }: ValidationRequest,
  catalogue: ProcessorBSettings['catalogue'],
): CatalogueProduct {
  const product = Object.hasOwn(catalogue, id) ? catalogue[id] : undefined;
  if (!product) throw new ServiceError('InvalidPayload', 'The catalogue has no such product.');
  const isOtherPrice = priceMicros !== undefined && priceMicros !== toMicros(product.amount);
  if (isOtherPrice || (currency !== undefined && currency !== product.currency)) {
    throw new ServiceError('InvalidPayload', 'The price is not that of the catalogue; nothing was charged.');
  }
  return product;
}

/** An amount as the processor writes it, in micros. */
export const toMicros = (amount: string): number => Math.round(Number(amount) * 1_000_000);

const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** 32 characters, within the 36 that the processor's ids have. */
const hashParts = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
