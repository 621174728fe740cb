import * as v from 'valibot';
import { type HttpResponse, jsonResponse, type StoreHttpRequest } from '../http-messages.ts';
import { getStatus, type ItemContext, toItemV6, toItemV8, toItemV9 } from './collection-item.ts';
import type { Purchase } from './records.ts';
import type { ResponseContext } from './response-context.ts';
import { badRequestError } from './service-error.ts';
import { parseRequest, requireKeyHolder, Sandbox, toPage } from './service-request.ts';
import { listPurchases } from './store-state.ts';

const b2b = v.pipe(v.string(), v.toLowerCase(), v.literal('b2b'));

/** Customer of a request. The documentation uses both spellings of `identityType`. */
export const Beneficiary = v.pipe(
  v.object({
    identitytype: v.exactOptional(b2b),
    identityType: v.exactOptional(b2b),
    identityValue: v.string(),
    localTicketReference: v.nullish(v.string(), ''),
  }),
  v.check(
    ({ identitytype, identityType }) => (identitytype ?? identityType) !== undefined,
    'identityType: expected b2b',
  ),
);

const Query = v.object({
  beneficiaries: v.pipe(v.array(Beneficiary), v.length(1)),
  continuationToken: v.nullish(v.string()),
  maxPageSize: v.nullish(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100)), 100),
  productSkuIds: v.nullish(v.array(v.object({ productId: v.string(), skuId: v.nullish(v.string()) }))),
  productTypes: v.nullish(v.array(v.string())),
  entitlementFilters: v.nullish(v.array(v.string())),
  sbx: Sandbox,
  validityType: v.nullish(v.picklist(['All', 'Valid', 'Invalid', 'NotYetEnded', 'NotYetStarted']), 'All'),
});
type Query = v.InferOutput<typeof Query>;

/**
 * `POST /v6.0/collections/query`.
 *
 * @see https://learn.microsoft.com/en-us/windows/uwp/monetize/query-for-products
 */
export const queryCollectionV6 = (context: ResponseContext, call: StoreHttpRequest): HttpResponse =>
  handleQuery(context, call, { toItem: toItemV6 });

/**
 * `POST /v8.0/collections/b2bLicensePreview`.
 *
 * @see https://learn.microsoft.com/en-us/gaming/gdk/docs/store/commerce/service-to-service/microsoft-store-apis/xstore-v8-query-for-products
 */
export const queryCollectionV8 = (context: ResponseContext, call: StoreHttpRequest): HttpResponse =>
  handleQuery(context, call, { toItem: toItemV8 });

/**
 * `POST /v9.0/collections/PublisherQuery`. `productSkuIds` is required.
 *
 * @see https://learn.microsoft.com/en-us/gaming/gdk/docs/store/commerce/service-to-service/microsoft-store-apis/xstore-v9-query-for-products
 */
export const queryCollectionV9 = (context: ResponseContext, call: StoreHttpRequest): HttpResponse =>
  handleQuery(context, call, { toItem: toItemV9, needsProducts: true });

interface ApiVersion {
  readonly toItem: (purchase: Purchase, context: ItemContext) => object;
  readonly needsProducts?: boolean;
}

function handleQuery(
  context: ResponseContext,
  call: StoreHttpRequest,
  { toItem, needsProducts = false }: ApiVersion,
): HttpResponse {
  const query = parseRequest(Query, call);
  const [{ identityValue: key, localTicketReference } = { identityValue: '', localTicketReference: '' }] =
    query.beneficiaries;
  const { account, userId } = requireKeyHolder(context, call, { service: 'collections', key });
  if (needsProducts && !query.productSkuIds?.length) throw badRequestError('productSkuIds is missing');
  const now = context.now();
  const owned = listPurchases(context.state, account, query.sbx).filter((purchase) =>
    matchesQuery(purchase, query, now),
  );
  const { items, ...page } = toPage(owned, query.maxPageSize, {
    continuationToken: query.continuationToken,
    listLength: context.settings().listLength,
  });
  return jsonResponse(200, {
    ...page,
    items: items.map((purchase) => toItem(purchase, { userId, localTicketReference, now })),
  });
}

function matchesQuery(purchase: Purchase, query: Query, now: number): boolean {
  const { item, productId } = purchase;
  const { productSkuIds, productTypes, entitlementFilters } = query;
  // The collection does not contain consumables that the developer has reported as fulfilled.
  if (item.kind === 'UnmanagedConsumable' && item.quantity === 0) return false;
  if (productSkuIds?.length && !productSkuIds.some((sku) => sku.productId === productId)) return false;
  if (productTypes?.length && !productTypes.includes(item.kind)) return false;
  if (entitlementFilters?.length && !entitlementFilters.includes(`*:${item.kind}`)) return false;
  return matchesValidity(query.validityType, getStatus(purchase, now) === 'Active');
}

function matchesValidity(validityType: Query['validityType'], isActive: boolean): boolean {
  if (validityType === 'All') return true;
  return validityType === 'Invalid' ? !isActive : isActive && validityType !== 'NotYetStarted';
}
