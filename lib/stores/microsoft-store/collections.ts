import * as v from 'valibot';
import { CollectionsItem, NullishText } from './payloads.ts';
import type { MicrosoftSession } from './session.ts';
import type { StoreIdKey } from './store-id-key.ts';
import { type ApiResult, callService, fetchAllPages } from './store-service-api.ts';

const Page = v.object({ items: v.array(CollectionsItem), continuationToken: NullishText });

/** A product, by its Store ID or by the developer's id. */
export interface RequestedProduct {
  readonly id: string;
  readonly isStoreId: boolean;
}

/** The customer and the sandbox of a query; retail without a sandbox. */
export interface QueryScope {
  readonly key: StoreIdKey;
  readonly sandboxId?: string;
}

const maxPageSize = 100;

/**
 * Fetches the customer's items of a product, including expired and revoked ones. Version 9 requires Store IDs. Version
 * 6 lists all products with the developer's ids, for clients that do not send a Store ID.
 * @see https://learn.microsoft.com/en-us/gaming/gdk/docs/store/commerce/service-to-service/microsoft-store-apis/xstore-v9-query-for-products
 * @see https://learn.microsoft.com/en-us/windows/uwp/monetize/query-for-products
 */
export async function fetchCollection(
  session: MicrosoftSession,
  product: RequestedProduct,
  scope: QueryScope,
): Promise<ApiResult<CollectionsItem[]>> {
  const path = product.isStoreId ? '/v9.0/collections/PublisherQuery' : '/v6.0/collections/query';
  const result = await fetchAllPages(async (continuationToken) =>
    callService(session, { service: 'collections', path, body: buildQuery(product, scope, continuationToken) }, Page),
  );
  if (result.kind !== 'found') return result;
  return { kind: 'found', value: result.value.filter((item) => isItemOfProduct(item, product)) };
}

const buildQuery = (
  { id, isStoreId }: RequestedProduct,
  { key, sandboxId }: QueryScope,
  continuationToken?: string,
): object => ({
  beneficiaries: [toBeneficiary(key)],
  maxPageSize,
  validityType: 'All',
  ...(isStoreId && { excludeDuplicates: false, productSkuIds: [{ productId: id }] }),
  ...(sandboxId !== undefined && { sbx: sandboxId }),
  ...(continuationToken !== undefined && { continuationToken }),
});

/** Converts a StoreID key to the `UserIdentity` of a request. */
export const toBeneficiary = ({ key, userId = '' }: StoreIdKey): object => ({
  identitytype: 'b2b',
  identityValue: key,
  localTicketReference: userId,
});

function isItemOfProduct(
  { productId, inAppOfferToken, devOfferId }: CollectionsItem,
  { id, isStoreId }: RequestedProduct,
): boolean {
  const isProduct = productId.toUpperCase() === id.toUpperCase();
  return isProduct || (!isStoreId && (inAppOfferToken === id || devOfferId === id));
}
