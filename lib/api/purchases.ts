import * as v from 'valibot';
import { defineContract } from './contract.ts';
import { Id, Username } from './identifiers.ts';
import { DateOrDateTime, PagingInformation, pagingQuery } from './paging.ts';
import { PurchaseDetails, PurchaseRow } from './purchase-records.ts';
import { DateTime, emptyAsAbsent } from './schemas.ts';

export const getPurchase = defineContract({
  id: 'get-purchase',
  area: 'purchases',
  summary: 'Get a purchase with its entitled users',
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

/** Ignores the page parameters, even invalid ones, if `startdate` or `enddate` is present. */
const ListPurchasesQuery = v.pipe(
  v.object({
    startdate: optionalText,
    enddate: optionalText,
    limit: optionalText,
    skip: optionalText,
    offset: optionalText,
    include_notifications: optionalText,
    customerId: optionalText,
  }),
  v.transform(({ limit, skip, offset, ...rest }) =>
    rest.startdate || rest.enddate ? rest : { limit, skip, offset, ...rest },
  ),
  v.object({
    startdate: emptyAsAbsent(DateOrDateTime),
    enddate: emptyAsAbsent(DateOrDateTime),
    ...pagingQuery,
    include_notifications: optionalText,
    // Spec: not shown. Clients send it to select the purchases of a customer.
    customerId: emptyAsAbsent(Username),
  }),
);

export const listPurchases = defineContract({
  id: 'list-purchases',
  area: 'purchases',
  summary: 'List purchases, oldest first, or all purchases that changed in a date range, also of one customer',
  method: 'GET',
  path: '/v3/purchases',
  aliases: ['/v2/purchases'],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'purchase.read',
  query: ListPurchasesQuery,
  response: v.strictObject({ paging: PagingInformation, rows: v.array(PurchaseRow) }),
  isLongRunning: true,
  permissions: ['indexes'],
});

export const getRefreshToken = defineContract({
  id: 'get-refresh-token',
  area: 'purchases',
  summary: 'Get the refresh token of a purchase; for internal use',
  method: 'GET',
  path: '/v3/purchases/:purchaseId/refresh_token',
  aliases: ['/v2/purchases/:purchaseId/refresh_token'],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'purchase.read',
  params: v.object({ purchaseId: Id }),
  response: v.strictObject({
    purchaseId: v.string(),
    latestRefresh: v.exactOptional(DateTime),
    refreshToken: v.exactOptional(v.record(v.string(), v.string())),
  }),
  permissions: ['secrets'],
});
