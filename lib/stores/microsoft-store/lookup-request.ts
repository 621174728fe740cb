import * as v from 'valibot';
import { type Catalogue, findCatalogueProduct } from '../../apps/catalogue.ts';
import { ServiceError } from '../../foundation/errors.ts';
import { parse } from '../../foundation/parse.ts';
import { parseBillingPeriod } from '../billing-period.ts';
import type { ValidationRequest } from '../store.ts';
import type { RequestedProduct } from './collections.ts';
import type { LookupRequest } from './lookup.ts';
import type { ReportedAmount } from './mapping-context.ts';
import type { MicrosoftSession } from './session.ts';
import type { MicrosoftStoreSettings } from './settings.ts';
import { parseStoreIdKey } from './store-id-key.ts';

/** Accepts text and treats other values as absent: existing clients send null, empty text and other types. */
const lenientText = (maxLength: number) => v.fallback(v.nullish(v.pipe(v.string(), v.maxLength(maxLength))), undefined);
const Key = lenientText(20_000);

/** `storeId` is the product's Store ID, alone or with the id of a SKU: `9NBLGGH5WVP6/0010`. */
const Transaction = v.looseObject({ storeId: lenientText(512) });

/** Some existing clients send `storeIdKey_purchase` instead of `storeIdKey_purchases`. */
const License = v.looseObject({
  storeIdKey_collections: Key,
  storeIdKey_purchases: Key,
  storeIdKey_purchase: Key,
});

/**
 * Parses a validation request. Throws `InvalidPayload` for a StoreID key that the app cannot use, and if `id` and
 * `storeId` are different products. The catalogue takes precedence over the billing period of the request.
 */
export function parseLookupRequest(
  request: ValidationRequest,
  session: MicrosoftSession,
  catalogue?: Catalogue,
): LookupRequest {
  const { storeId } = parse(Transaction, request.transaction);
  const license = parse(License, request.license ?? {});
  const collectionsKey = license.storeIdKey_collections;
  const purchaseKey = license.storeIdKey_purchases || license.storeIdKey_purchase;
  const reportedAmount = parseReportedAmount(request);
  const product = toRequestedProduct(request.id, storeId?.split('/')[0], session.settings);
  const period = findCatalogueProduct(catalogue, product.id)?.billingPeriod ?? parseBillingPeriod(request);
  return {
    product,
    isSubscription: request.type === 'paid subscription',
    keys: {
      ...(collectionsKey && { collections: parseStoreIdKey(collectionsKey, 'collections', session) }),
      ...(purchaseKey && { purchase: parseStoreIdKey(purchaseKey, 'purchase', session) }),
    },
    ...(reportedAmount && { reportedAmount }),
    ...(period !== undefined && { period }),
  };
}

/**
 * Returns the product that `id` names: by the setting `productIds`, or as a Store ID. Any other id is the developer's,
 * which the store confirms in the items of the collection. The client's `storeId` alone does not connect an id to a
 * product.
 */
function toRequestedProduct(
  id: string,
  storeId: string | undefined,
  { productIds = {} }: MicrosoftStoreSettings,
): RequestedProduct {
  const ownStoreId = Object.hasOwn(productIds, id) ? productIds[id] : undefined;
  const isStoreId = ownStoreId !== undefined || isSameId(id, storeId) || /^[\dA-Z]{12}$/i.test(id);
  const product = { id: ownStoreId ?? id, isStoreId };
  if (isStoreId && storeId && !isSameId(product.id, storeId)) {
    throw new ServiceError('InvalidPayload', 'transaction.storeId is not the Store ID of the requested product.');
  }
  return product;
}

const isSameId = (a: string, b: string | undefined): boolean => a.toUpperCase() === b?.toUpperCase();

function parseReportedAmount({ priceMicros, currency }: ValidationRequest): ReportedAmount | undefined {
  const isAmount = priceMicros !== undefined && Number.isSafeInteger(priceMicros) && priceMicros >= 0;
  return isAmount && currency !== undefined ? { amountMicros: priceMicros, currency } : undefined;
}
