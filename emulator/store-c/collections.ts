import * as v from 'valibot';
import { type HttpResponse, jsonResponse, type StoreHttpRequest } from '../http-messages.ts';
import { getStatus, type ItemAudience, toItemV6, toItemV8, toItemV9 } from './collection-item.ts';
import type { Purchase } from './records.ts';
import type { ResponseContext } from './response-context.ts';
import { badRequestError } from './service-error.ts';
import { parseRequest, requireKeyHolder, Sandbox, toPage } from './service-request.ts';
import { listPurchases } from './store-state.ts';

const b2b = v.pipe(v.string(), v.toLowerCase(), v.literal('b2b'));

/** The documents spell the name of the identity's type in both ways. */
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

/** `POST /v6.0/collections/query`. */
export const queryCollectionV6 = (context: ResponseContext, call: StoreHttpRequest): HttpResponse =>
  handleQuery(context, call, { write: toItemV6 });

/** `POST /v8.0/collections/b2bLicensePreview`. */
export const queryCollectionV8 = (context: ResponseContext, call: StoreHttpRequest): HttpResponse =>
  handleQuery(context, call, { write: toItemV8 });

/** `POST /v9.0/collections/PublisherQuery`: names the products that it asks for. */
export const queryCollectionV9 = (context: ResponseContext, call: StoreHttpRequest): HttpResponse =>
  handleQuery(context, call, { write: toItemV9, needsProducts: true });

interface Version {
  readonly write: (purchase: Purchase, shown: ItemAudience) => object;
  readonly needsProducts?: boolean;
}

function handleQuery(
  context: ResponseContext,
  call: StoreHttpRequest,
  { write, needsProducts = false }: Version,
): HttpResponse {
  const query = parseRequest(Query, call);
  const [{ identityValue: key, localTicketReference } = { identityValue: '', localTicketReference: '' }] =
    query.beneficiaries;
  const { account, userId } = requireKeyHolder(context, call, { service: 'collections', key });
  if (needsProducts && !query.productSkuIds?.length) throw badRequestError('productSkuIds: it is required');
  const now = context.now();
  const owned = listPurchases(context.state, account, query.sbx).filter((purchase) =>
    matchesQuery(purchase, query, now),
  );
  const { items, ...page } = toPage(owned, query.maxPageSize, query.continuationToken);
  return jsonResponse(200, {
    ...page,
    items: items.map((purchase) => write(purchase, { userId, localTicketReference, now })),
  });
}

function matchesQuery(purchase: Purchase, query: Query, now: number): boolean {
  const { item, productId } = purchase;
  const { productSkuIds, productTypes, entitlementFilters } = query;
  // What the developer reported as fulfilled has left the collection.
  if (item.kind === 'UnmanagedConsumable' && item.quantity === 0) return false;
  if (productSkuIds?.length && !productSkuIds.some((one) => one.productId === productId)) return false;
  if (productTypes?.length && !productTypes.includes(item.kind)) return false;
  if (entitlementFilters?.length && !entitlementFilters.includes(`*:${item.kind}`)) return false;
  return matchesValidity(query.validityType, getStatus(purchase, now) === 'Active');
}

function matchesValidity(wanted: Query['validityType'], isActive: boolean): boolean {
  if (wanted === 'All') return true;
  return wanted === 'Invalid' ? !isActive : isActive && wanted !== 'NotYetStarted';
}
