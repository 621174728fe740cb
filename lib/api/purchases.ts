import * as v from 'valibot';
import { defineContract } from './contract.ts';
import { Id } from './identifiers.ts';
import { DateOrDateTime, emptyAsAbsent, PagingInformation, pagingQuery } from './paging.ts';
import { PurchaseDetails } from './purchase-records.ts';

export const getPurchase = defineContract({
  id: 'get-purchase',
  area: 'purchases',
  summary: 'One purchase with its entitled users',
  method: 'GET',
  path: '/v3/purchases/:purchaseId',
  aliases: ['/v2/purchases/:purchaseId'],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'purchase.read',
  params: v.object({ purchaseId: Id }),
  query: v.object({ include_notifications: v.optional(v.string()) }),
  response: PurchaseDetails,
  permissions: [],
});

const optionalText = v.optional(v.string());

/** With a date, whatever is sent as a page is not even read. */
const ListPurchasesQuery = v.pipe(
  v.object({
    startdate: optionalText,
    enddate: optionalText,
    limit: optionalText,
    skip: optionalText,
    offset: optionalText,
    include_notifications: optionalText,
  }),
  v.transform(({ limit, skip, offset, ...rest }) =>
    rest.startdate || rest.enddate ? rest : { limit, skip, offset, ...rest },
  ),
  v.object({
    startdate: emptyAsAbsent(DateOrDateTime),
    enddate: emptyAsAbsent(DateOrDateTime),
    ...pagingQuery,
    include_notifications: optionalText,
  }),
);

export const listPurchases = defineContract({
  id: 'list-purchases',
  area: 'purchases',
  summary: 'Purchases, oldest first, or all that changed between two moments',
  method: 'GET',
  path: '/v3/purchases',
  aliases: ['/v2/purchases'],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'purchase.read',
  query: ListPurchasesQuery,
  response: v.strictObject({ paging: PagingInformation, rows: v.array(PurchaseDetails) }),
  isLongRunning: true,
  permissions: ['indexes'],
});

export const getRefreshToken = defineContract({
  id: 'get-refresh-token',
  area: 'purchases',
  summary: 'What asking the store for a purchase again needs; for internal use',
  method: 'GET',
  path: '/v3/purchases/:purchaseId/refresh_token',
  aliases: ['/v2/purchases/:purchaseId/refresh_token'],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'purchase.read',
  params: v.object({ purchaseId: Id }),
  response: v.strictObject({
    purchaseId: v.string(),
    latestRefresh: v.exactOptional(v.pipe(v.string(), v.isoTimestamp())),
    refreshToken: v.exactOptional(v.record(v.string(), v.string())),
  }),
  permissions: ['secrets'],
});
