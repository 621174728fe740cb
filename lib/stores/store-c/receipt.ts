import * as v from 'valibot';
import { parse } from '../../parse.ts';
import type { ValidationRequest } from '../store.ts';
import type { WantedProduct } from './collections.ts';
import type { Question } from './look.ts';
import type { ReportedAmount } from './looking.ts';
import { toldPeriod } from './period.ts';
import type { Session } from './session.ts';
import { readKey } from './store-id-key.ts';

/** What is no text counts as absent: clients that exist today send null, empty texts and whatever they have. */
const text = (longest: number) => v.fallback(v.nullish(v.pipe(v.string(), v.maxLength(longest))), undefined);
const Key = text(20_000);

/** `transaction.storeId` is the product's Store ID, alone or with the one of the SKU: `9NBLGGH5WVP6/0010`. */
const Transaction = v.looseObject({ storeId: text(512) });

/** The key for purchases is spelled in the singular by clients that exist today. */
const License = v.looseObject({
  storeIdKey_collections: Key,
  storeIdKey_purchases: Key,
  storeIdKey_purchase: Key,
});

/** What a request asks. Throws `InvalidPayload` for keys that are none of this application's. */
export function questionOf(request: ValidationRequest, session: Session): Question {
  const { storeId } = parse(Transaction, request.transaction);
  const license = parse(License, request.license ?? {});
  const collections = license.storeIdKey_collections;
  const purchase = license.storeIdKey_purchases || license.storeIdKey_purchase;
  const amount = reportedAmount(request);
  const period = toldPeriod(request);
  return {
    product: productOf(request.id, storeId?.split('/')[0]),
    isSubscription: request.type === 'paid subscription',
    keys: {
      ...(collections && { collections: readKey(collections, 'collections', session) }),
      ...(purchase && { purchase: readKey(purchase, 'purchase', session) }),
    },
    ...(amount && { reportedAmount: amount }),
    ...(period !== undefined && { period }),
  };
}

/** Twelve letters and digits are a Store ID; anything else is the developer's own name of the product. */
function productOf(id: string, storeId: string | undefined): WantedProduct {
  return storeId ? { id: storeId, isStoreId: true } : { id, isStoreId: /^[\dA-Z]{12}$/i.test(id) };
}

function reportedAmount({ priceMicros, currency }: ValidationRequest): ReportedAmount | undefined {
  const isAmount = priceMicros !== undefined && Number.isSafeInteger(priceMicros) && priceMicros >= 0;
  return isAmount && currency !== undefined ? { amountMicros: priceMicros, currency } : undefined;
}
