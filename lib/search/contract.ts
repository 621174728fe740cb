import * as v from 'valibot';
import { defineContract } from '../api/contract.ts';
import { type ApiPart, describeObject, describeOperation, describeValue } from '../api/describe.ts';
import { Id } from '../api/schemas.ts';
import { PurchaseDetails } from '../purchases/purchase-contract.ts';
import { TransactionRecord } from '../purchases/transaction-contract.ts';

export const FoundCustomer = v.strictObject({
  type: v.literal('customer'),
  applicationUsername: v.string(),
  /**
   * `name`: the text is the username. `alias`: a store knows the customer by it. `prefix`: the username begins with it,
   * in any case. `word`: another word of the username does.
   */
  match: v.picklist(['name', 'alias', 'prefix', 'word']),
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

/** Something that the searched text identifies, or a customer whose name, or a word of it, begins with the text. */
export const SearchResult = v.variant('type', [
  FoundCustomer,
  FoundPurchase,
  FoundTransaction,
  FoundEvent,
  FoundDelivery,
]);
export type SearchResult = v.InferOutput<typeof SearchResult>;

const SearchResults = v.strictObject({ results: v.array(SearchResult) });

// Spec: not shown. For support, who have one id and do not know its kind.
export const search = defineContract({
  id: 'search',
  area: 'search',
  summary: 'Find customers by name, and everything else by id',
  method: 'GET',
  path: '/v3/search',
  aliases: [],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'search.read',
  query: v.object({ q: v.pipe(v.string(), v.trim(), Id) }),
  response: SearchResults,
  permissions: ['indexes', 'userIndex'],
});

const eventId = ['Id of the event.', '4b7e1f60-9a1c-4f0e-8a51-0d3c5b2e9f10'] as const;

const descriptions = [
  describeObject('FoundCustomer', FoundCustomer, 'A customer.', {
    type: ['The constant `customer`.', 'customer'],
    applicationUsername: ['Username of the customer.', 'alice'],
    match: [
      '`name`: the text is the username. `alias`: a store knows the customer by it. `prefix`: the username begins with ' +
        'the text, in any case. `word`: another word of the username does.',
      'name',
    ],
  }),
  describeObject('FoundPurchase', FoundPurchase, 'A purchase.', {
    type: ['The constant `purchase`.', 'purchase'],
    match: [
      '`purchaseId`: the text is its id. `alias`: an unclaimed purchase of a store account with this name. ' +
        '`appTransactionId`: a purchase of the store_a account with this id.',
      'purchaseId',
    ],
    purchase: ['The purchase.'],
  }),
  describeObject('FoundTransaction', FoundTransaction, 'A transaction.', {
    type: ['The constant `transaction`.', 'transaction'],
    transaction: ['The transaction.'],
  }),
  describeObject('FoundEvent', FoundEvent, 'An event.', { type: ['The constant `event`.', 'event'], eventId }),
  describeObject('FoundDelivery', FoundDelivery, 'A webhook delivery.', {
    type: ['The constant `delivery`.', 'delivery'],
    deliveryId: ['Id of the delivery.', '5f2b7c9d1e3a4b6c8d0e2f4a6b8c0d1e'],
  }),
  describeValue('SearchResult', SearchResult, 'A record that the searched text identifies.'),
  describeObject('SearchResults', SearchResults, 'Everything that the searched text identifies.', {
    results: ['The found records. Empty if nothing is found.'],
  }),
];

const operations = [
  describeOperation(search, {
    description:
      'Finds the customers whose usernames, or words of them, begin with the text, in any case, at most 20, and everything ' +
      'that has it as its exact id, for support. `stripe` and `stripe@ex` find `nora.stripe@example.com`. The words of a ' +
      'username are the first three after its beginning that start with a letter and have at least three letters or ' +
      'digits; those of a domain are one word. A username with a generated id, such as a UUID, has none. A text in the ' +
      'middle of a word finds nothing.',
    query: { q: ['A username, or the id of a purchase, transaction, event or webhook delivery.', 'alice'] },
  }),
];

export const searchApi: ApiPart = { descriptions, operations };
