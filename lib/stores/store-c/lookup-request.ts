import * as v from 'valibot';
import { parse } from '../../shared/parse.ts';
import { parseBillingPeriod } from '../billing-period.ts';
import type { ValidationRequest } from '../store.ts';
import type { RequestedProduct } from './collections.ts';
import type { LookupRequest } from './lookup.ts';
import type { ReportedAmount } from './mapping-context.ts';
import type { MicrosoftSession } from './session.ts';
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

/** Parses a validation request. Throws `InvalidPayload` for a StoreID key that the app cannot use. */
export function parseLookupRequest(request: ValidationRequest, session: MicrosoftSession): LookupRequest {
  const { storeId } = parse(Transaction, request.transaction);
  const license = parse(License, request.license ?? {});
  const collectionsKey = license.storeIdKey_collections;
  const purchaseKey = license.storeIdKey_purchases || license.storeIdKey_purchase;
  const reportedAmount = parseReportedAmount(request);
  const period = parseBillingPeriod(request);
  return {
    product: toRequestedProduct(request.id, storeId?.split('/')[0]),
    isSubscription: request.type === 'paid subscription',
    keys: {
      ...(collectionsKey && { collections: parseStoreIdKey(collectionsKey, 'collections', session) }),
      ...(purchaseKey && { purchase: parseStoreIdKey(purchaseKey, 'purchase', session) }),
    },
    ...(reportedAmount && { reportedAmount }),
    ...(period !== undefined && { period }),
  };
}

/** An id of twelve letters and digits is a Store ID. Any other id is the developer's. */
function toRequestedProduct(id: string, storeId: string | undefined): RequestedProduct {
  return storeId ? { id: storeId, isStoreId: true } : { id, isStoreId: /^[\dA-Z]{12}$/i.test(id) };
}

function parseReportedAmount({ priceMicros, currency }: ValidationRequest): ReportedAmount | undefined {
  const isAmount = priceMicros !== undefined && Number.isSafeInteger(priceMicros) && priceMicros >= 0;
  return isAmount && currency !== undefined ? { amountMicros: priceMicros, currency } : undefined;
}
