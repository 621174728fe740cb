import * as v from 'valibot';
import { parse } from '../../shared/parse.ts';
import { parseBillingPeriod } from '../billing-period.ts';
import type { ValidationRequest } from '../store.ts';
import type { RequestedProduct } from './collections.ts';
import type { LookupRequest } from './lookup.ts';
import type { ReportedAmount } from './mapping-context.ts';
import type { MicrosoftSession } from './session.ts';
import { parseStoreIdKey } from './store-id-key.ts';

/** What is no text counts as absent: clients that exist today send null, empty texts and whatever they have. */
const lenientText = (longest: number) => v.fallback(v.nullish(v.pipe(v.string(), v.maxLength(longest))), undefined);
const Key = lenientText(20_000);

/** `transaction.storeId` is the product's Store ID, alone or with the one of the SKU: `9NBLGGH5WVP6/0010`. */
const Transaction = v.looseObject({ storeId: lenientText(512) });

/** The key for purchases is spelled in the singular by clients that exist today. */
const License = v.looseObject({
  storeIdKey_collections: Key,
  storeIdKey_purchases: Key,
  storeIdKey_purchase: Key,
});

/** What a request asks. Throws `InvalidPayload` for keys that are none of this application's. */
export function parseLookupRequest(request: ValidationRequest, session: MicrosoftSession): LookupRequest {
  const { storeId } = parse(Transaction, request.transaction);
  const license = parse(License, request.license ?? {});
  const collections = license.storeIdKey_collections;
  const purchase = license.storeIdKey_purchases || license.storeIdKey_purchase;
  const amount = reportedAmount(request);
  const period = parseBillingPeriod(request);
  return {
    product: toRequestedProduct(request.id, storeId?.split('/')[0]),
    isSubscription: request.type === 'paid subscription',
    keys: {
      ...(collections && { collections: parseStoreIdKey(collections, 'collections', session) }),
      ...(purchase && { purchase: parseStoreIdKey(purchase, 'purchase', session) }),
    },
    ...(amount && { reportedAmount: amount }),
    ...(period !== undefined && { period }),
  };
}

/** Twelve letters and digits are a Store ID; anything else is the developer's own name of the product. */
function toRequestedProduct(id: string, storeId: string | undefined): RequestedProduct {
  return storeId ? { id: storeId, isStoreId: true } : { id, isStoreId: /^[\dA-Z]{12}$/i.test(id) };
}

function reportedAmount({ priceMicros, currency }: ValidationRequest): ReportedAmount | undefined {
  const isAmount = priceMicros !== undefined && Number.isSafeInteger(priceMicros) && priceMicros >= 0;
  return isAmount && currency !== undefined ? { amountMicros: priceMicros, currency } : undefined;
}
