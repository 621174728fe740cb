import * as v from 'valibot';
import { Text } from './moments.ts';
import { everyPage } from './pages.ts';
import { type Answered, askService } from './service-call.ts';
import type { Session } from './session.ts';
import type { StoreIdKey } from './store-id-key.ts';

/** An entry of a customer's collection, in the words of versions 6, 8 and 9. */
export const CollectionsItem = v.looseObject({
  id: Text,
  itemId: Text,
  productId: v.string(),
  skuId: Text,
  productKind: Text,
  productType: Text,
  status: Text,
  acquiredDate: Text,
  endDate: Text,
  modifiedDate: Text,
  transactionId: Text,
  quantity: v.nullish(v.number()),
  trialData: v.nullish(v.looseObject({ isInTrialPeriod: v.nullish(v.boolean()) })),
  recurrenceId: Text,
  inAppOfferToken: Text,
  devOfferId: Text,
});
export type CollectionsItem = v.InferOutput<typeof CollectionsItem>;

const Page = v.object({ items: v.array(CollectionsItem), continuationToken: Text });

/** A product, by its Store ID or else by the name that the developer gave it. */
export interface WantedProduct {
  readonly id: string;
  readonly isStoreId: boolean;
}

/** Where to look: a sandbox, or retail without one. */
export interface Place {
  readonly key: StoreIdKey;
  readonly sandboxId?: string;
}

/**
 * What the customer owns, or once owned, of a product. Version 9 wants Store IDs; version 6 lists everything and tells the
 * developer's names, so it serves a client that knows no Store ID.
 */
export async function collectionOf(
  session: Session,
  product: WantedProduct,
  place: Place,
): Promise<Answered<CollectionsItem[]>> {
  const path = product.isStoreId ? '/v9.0/collections/PublisherQuery' : '/v6.0/collections/query';
  const answer = await everyPage(async (continuationToken) =>
    askService(session, { service: 'collections', path, body: query(product, place, continuationToken) }, Page),
  );
  if (answer.kind !== 'found') return answer;
  return { kind: 'found', value: answer.value.filter((item) => isOf(item, product)) };
}

const query = ({ id, isStoreId }: WantedProduct, { key, sandboxId }: Place, continuationToken?: string): object => ({
  beneficiaries: [beneficiaryOf(key)],
  maxPageSize: 100,
  // Also what was refunded or has expired: it is told of, not hidden.
  validityType: 'All',
  ...(isStoreId && { excludeDuplicates: false, productSkuIds: [{ productId: id }] }),
  ...(sandboxId !== undefined && { sbx: sandboxId }),
  ...(continuationToken !== undefined && { continuationToken }),
});

/** The customer as a request names them. */
export const beneficiaryOf = ({ key, userId = '' }: StoreIdKey): object => ({
  identitytype: 'b2b',
  identityValue: key,
  localTicketReference: userId,
});

function isOf({ productId, inAppOfferToken, devOfferId }: CollectionsItem, { id, isStoreId }: WantedProduct): boolean {
  const isProduct = productId.toUpperCase() === id.toUpperCase();
  return isProduct || (!isStoreId && (inAppOfferToken === id || devOfferId === id));
}
