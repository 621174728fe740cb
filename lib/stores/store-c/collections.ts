import * as v from 'valibot';
import { fetchAllPages } from './fetch-all-pages.ts';
import type { MicrosoftSession } from './session.ts';
import type { StoreIdKey } from './store-id-key.ts';
import { type ApiResult, callService } from './store-service-api.ts';
import { NullishText } from './timestamps.ts';

/** An entry of a customer's collection, in the words of versions 6, 8 and 9. */
export const CollectionsItem = v.looseObject({
  id: NullishText,
  itemId: NullishText,
  productId: v.string(),
  skuId: NullishText,
  productKind: NullishText,
  productType: NullishText,
  status: NullishText,
  acquiredDate: NullishText,
  endDate: NullishText,
  modifiedDate: NullishText,
  transactionId: NullishText,
  quantity: v.nullish(v.number()),
  trialData: v.nullish(v.looseObject({ isInTrialPeriod: v.nullish(v.boolean()) })),
  recurrenceId: NullishText,
  inAppOfferToken: NullishText,
  devOfferId: NullishText,
});
export type CollectionsItem = v.InferOutput<typeof CollectionsItem>;

const Page = v.object({ items: v.array(CollectionsItem), continuationToken: NullishText });

/** A product, by its Store ID or else by the name that the developer gave it. */
export interface RequestedProduct {
  readonly id: string;
  readonly isStoreId: boolean;
}

/** Where to look: a sandbox, or retail without one. */
export interface QueryScope {
  readonly key: StoreIdKey;
  readonly sandboxId?: string;
}

/**
 * What the customer owns, or once owned, of a product. Version 9 wants Store IDs; version 6 lists everything and tells the
 * developer's names, so it serves a client that knows no Store ID.
 */
export async function fetchCollection(
  session: MicrosoftSession,
  product: RequestedProduct,
  place: QueryScope,
): Promise<ApiResult<CollectionsItem[]>> {
  const path = product.isStoreId ? '/v9.0/collections/PublisherQuery' : '/v6.0/collections/query';
  const response = await fetchAllPages(async (continuationToken) =>
    callService(session, { service: 'collections', path, body: buildQuery(product, place, continuationToken) }, Page),
  );
  if (response.kind !== 'found') return response;
  return { kind: 'found', value: response.value.filter((item) => isItemOf(item, product)) };
}

const buildQuery = (
  { id, isStoreId }: RequestedProduct,
  { key, sandboxId }: QueryScope,
  continuationToken?: string,
): object => ({
  beneficiaries: [toBeneficiary(key)],
  maxPageSize: 100,
  // Also what was refunded or has expired: it is told of, not hidden.
  validityType: 'All',
  ...(isStoreId && { excludeDuplicates: false, productSkuIds: [{ productId: id }] }),
  ...(sandboxId !== undefined && { sbx: sandboxId }),
  ...(continuationToken !== undefined && { continuationToken }),
});

/** The customer as a request names them. */
export const toBeneficiary = ({ key, userId = '' }: StoreIdKey): object => ({
  identitytype: 'b2b',
  identityValue: key,
  localTicketReference: userId,
});

function isItemOf(
  { productId, inAppOfferToken, devOfferId }: CollectionsItem,
  { id, isStoreId }: RequestedProduct,
): boolean {
  const isProduct = productId.toUpperCase() === id.toUpperCase();
  return isProduct || (!isStoreId && (inAppOfferToken === id || devOfferId === id));
}
