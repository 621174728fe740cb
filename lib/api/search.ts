import * as v from 'valibot';
import { defineContract } from './contract.ts';
import { Id } from './identifiers.ts';
import { PurchaseDetails, TransactionRecord } from './purchase-records.ts';

export const FoundCustomer = v.strictObject({
  type: v.literal('customer'),
  applicationUsername: v.string(),
  /**
   * `name`: the text is the username. `alias`: a store knows the customer by it. `prefix`: the username begins with it,
   * in any case.
   */
  match: v.picklist(['name', 'alias', 'prefix']),
});
export const FoundPurchase = v.strictObject({
  type: v.literal('purchase'),
  /**
   * `alias`: an unclaimed purchase of a store account with this name. `appTransactionId`: a purchase of the store_a
   * account with this id.
   */
  match: v.picklist(['purchaseId', 'alias', 'appTransactionId']),
  purchase: PurchaseDetails,
});
export const FoundTransaction = v.strictObject({ type: v.literal('transaction'), transaction: TransactionRecord });
export const FoundEvent = v.strictObject({ type: v.literal('event'), eventId: v.string() });
export const FoundDelivery = v.strictObject({ type: v.literal('delivery'), deliveryId: v.string() });

/** Something that the searched text identifies, or a customer whose name begins with it. */
export const SearchResult = v.variant('type', [
  FoundCustomer,
  FoundPurchase,
  FoundTransaction,
  FoundEvent,
  FoundDelivery,
]);
export type SearchResult = v.InferOutput<typeof SearchResult>;

// Spec: not shown. For support, who have one id and do not know its kind.
export const search = defineContract({
  id: 'search',
  area: 'search',
  summary: 'Find customers by the beginning of a name, and purchases, transactions, events and deliveries by id',
  method: 'GET',
  path: '/v3/search',
  aliases: [],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'search.read',
  query: v.object({ q: v.pipe(v.string(), v.trim(), Id) }),
  response: v.strictObject({ results: v.array(SearchResult) }),
  permissions: ['indexes', 'userIndex'],
});
