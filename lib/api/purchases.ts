import * as v from 'valibot';
import { contract } from './contract.ts';
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
