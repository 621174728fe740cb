import * as v from 'valibot';
import { contract } from './contract.ts';
import { given, Moment, PagingInformation, pagingQuery } from './paging.ts';
import { FetchedPurchase } from './records.ts';
import { Id } from './username.ts';

export const getPurchase = contract({
  id: 'get-purchase',
  area: 'purchases',
  summary: 'One purchase with its entitled users',
  method: 'GET',
  path: '/v3/purchases/:purchaseId',
  aliases: ['/v2/purchases/:purchaseId'],
  key: 'secret',
  dialect: 'default',
  eventType: 'purchase.read',
  params: v.object({ purchaseId: Id }),
  query: v.object({ include_notifications: v.optional(v.string()) }),
  response: FetchedPurchase,
  needs: [],
});

const sent = v.optional(v.string());

/** With a date, whatever is sent as a page is not even read. */
const ListQuery = v.pipe(
  v.object({ startdate: sent, enddate: sent, limit: sent, skip: sent, offset: sent, include_notifications: sent }),
  v.transform(({ limit, skip, offset, ...rest }) =>
    rest.startdate || rest.enddate ? rest : { limit, skip, offset, ...rest },
  ),
  v.object({ startdate: given(Moment), enddate: given(Moment), ...pagingQuery, include_notifications: sent }),
);

export const listPurchases = contract({
  id: 'list-purchases',
  area: 'purchases',
  summary: 'Purchases, oldest first, or all that changed between two moments',
  method: 'GET',
  path: '/v3/purchases',
  aliases: ['/v2/purchases'],
  key: 'secret',
  dialect: 'default',
  eventType: 'purchase.read',
  query: ListQuery,
  response: v.strictObject({ paging: PagingInformation, rows: v.array(FetchedPurchase) }),
  isHeavy: true,
  needs: ['indexes'],
});

export const getRefreshToken = contract({
  id: 'get-refresh-token',
  area: 'purchases',
  summary: 'What asking the store for a purchase again needs; for internal use',
  method: 'GET',
  path: '/v3/purchases/:purchaseId/refresh_token',
  aliases: ['/v2/purchases/:purchaseId/refresh_token'],
  key: 'secret',
  dialect: 'default',
  eventType: 'purchase.read',
  params: v.object({ purchaseId: Id }),
  response: v.strictObject({
    purchaseId: v.string(),
    latestRefresh: v.exactOptional(v.pipe(v.string(), v.isoTimestamp())),
    refreshToken: v.exactOptional(v.record(v.string(), v.string())),
  }),
  needs: ['secrets'],
});
