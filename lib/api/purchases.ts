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
