import * as v from 'valibot';
import { defineContract } from './contract.ts';
import { PlatformToken } from './enumerations.ts';
import { EntitlementName, Id, Username } from './identifiers.ts';
import { cursorQuery, NextCursor, PagingInformation, pagingQuery, transactionPagingQuery } from './paging.ts';
import { CustomerInfo, EventInfo, PurchaseCollection, PurchaseRecord, TransactionRecord } from './purchase-records.ts';
import { DateTime, emptyAsAbsent, QueryFlag } from './schemas.ts';
import { timelineQuery, timelineRows } from './timeline-records.ts';

const params = v.object({ applicationUsername: Username });

/** Payments of a customer in US dollars less refunds, without sandbox purchases. */
export const CustomerSpend = v.strictObject({
  amountUSD: v.number(),
  /** Whether it covers all transactions. It covers the latest 100. */
  isComplete: v.boolean(),
});
export type CustomerSpend = v.InferOutput<typeof CustomerSpend>;

/** A customer with a summary of the purchases. */
export const CustomerSummary = v.strictObject({
  applicationUsername: v.string(),
  customerInfo: CustomerInfo,
  // Spec: not shown. Time of the first purchase or claim. Present in a list that is read by cursor, and with
  // `include_spend`.
  createdAt: v.exactOptional(DateTime),
  /** Present with `include_spend`. */
  spend: v.exactOptional(CustomerSpend),
});

export type CustomerSummary = v.InferOutput<typeof CustomerSummary>;

/** State of the subscriptions of a customer. `active` contains `trial` and `grace`. */
export const SubscriberState = v.picklist(['active', 'trial', 'grace', 'lapsed', 'none']);
export type SubscriberState = v.InferOutput<typeof SubscriberState>;

export const listCustomers = defineContract({
  id: 'list-customers',
  area: 'customers',
  summary: 'List customers with a summary of their purchases, also by state, entitlement, store or product',
  method: 'GET',
  path: '/v3/customers',
  aliases: ['/v2/customers'],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'customer.read',
  query: v.object({
    applicationUsername: v.optional(v.string()),
    ...pagingQuery,
    // Spec: not shown. With one of these, the rows are read by cursor, and `skip` is ignored.
    ...cursorQuery,
    state: emptyAsAbsent(SubscriberState),
    entitlement: emptyAsAbsent(EntitlementName),
    /** Store, product and sandbox of the last purchase. */
    platform: emptyAsAbsent(PlatformToken),
    productId: emptyAsAbsent(Id),
    sandbox: QueryFlag,
    /** Adds the payments of each customer. Only for at most 100 customers of `applicationUsername`. */
    include_spend: QueryFlag,
  }),
  response: v.strictObject({
    /** With a filter, an order or a cursor, `total` is the number of rows of the page. */
    paging: PagingInformation,
    rows: v.array(CustomerSummary),
    nextCursor: NextCursor,
  }),
  permissions: ['indexes'],
});

export const getCustomer = defineContract({
  id: 'get-customer',
  area: 'customers',
  summary: 'Get a customer with purchases, transactions and latest events',
  method: 'GET',
  path: '/v3/customers/:applicationUsername',
  aliases: ['/v2/customers/:applicationUsername'],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'customer.read',
  params,
  // Spec: not shown. Bounds the response for a customer with many transactions.
  query: v.object(transactionPagingQuery),
  response: v.strictObject({
    applicationUsername: v.string(),
    purchases: PurchaseCollection,
    events: v.array(EventInfo),
    transactions: v.array(TransactionRecord),
    customerInfo: CustomerInfo,
  }),
  permissions: [],
});

export const getCustomerPurchases = defineContract({
  id: 'get-customer-purchases',
  area: 'customers',
  summary: "Get a customer's purchases by product",
  method: 'GET',
  path: '/v3/customers/:applicationUsername/purchases',
  aliases: ['/v2/customers/:applicationUsername/purchases'],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'customer.read',
  params,
  response: v.strictObject({ applicationUsername: v.string(), purchases: PurchaseCollection }),
  permissions: [],
});

export const getCustomerSubscription = defineContract({
  id: 'get-customer-subscription',
  area: 'customers',
  summary: "Get a customer's current subscription",
  method: 'GET',
  path: '/v3/customers/:applicationUsername/subscription',
  aliases: ['/v2/customers/:applicationUsername/subscription'],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'customer.read',
  params,
  response: v.strictObject({ applicationUsername: v.string(), subscription: v.exactOptional(PurchaseRecord) }),
  permissions: [],
});

export const getCustomerTransactions = defineContract({
  id: 'get-customer-transactions',
  area: 'customers',
  summary: "Get a customer's transactions, latest first",
  method: 'GET',
  path: '/v3/customers/:applicationUsername/transactions',
  aliases: ['/v2/customers/:applicationUsername/transactions'],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'customer.read',
  params,
  // Spec: not shown. Bounds the response for a customer with many transactions.
  query: v.object(transactionPagingQuery),
  response: v.strictObject({ applicationUsername: v.string(), transactions: v.array(TransactionRecord) }),
  permissions: [],
});

// Spec: not shown. Everything about a customer by time, for support.
export const getCustomerTimeline = defineContract({
  id: 'get-customer-timeline',
  area: 'customers',
  summary: "List a customer's validations, store notifications, webhooks and payments, newest first",
  method: 'GET',
  path: '/v3/customers/:applicationUsername/timeline',
  aliases: [],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'customer.read',
  params,
  query: timelineQuery,
  response: v.strictObject({ applicationUsername: v.string(), ...timelineRows }),
  isLongRunning: true,
  permissions: [],
});

/** A claim of the customer, with the purchase. */
export const CustomerClaim = v.strictObject({
  purchaseId: v.string(),
  productId: v.string(),
  platform: PlatformToken,
  isEntitled: v.boolean(),
  source: v.picklist(['validation', 'alias', 'manual']),
  firstClaimedAt: DateTime,
  lastClaimedAt: DateTime,
});
export type CustomerClaim = v.InferOutput<typeof CustomerClaim>;

// Spec: not shown. The purchases that a customer claims, owned or not, for support. Events do not limit it: claims do
// not expire.
export const getCustomerClaims = defineContract({
  id: 'get-customer-claims',
  area: 'customers',
  summary: "List a customer's claims on purchases, newest first",
  method: 'GET',
  path: '/v3/customers/:applicationUsername/claims',
  aliases: [],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'customer.read',
  params,
  query: v.object({ ...timelineQuery.entries, isEntitled: QueryFlag }),
  response: v.strictObject({ applicationUsername: v.string(), rows: v.array(CustomerClaim), nextCursor: NextCursor }),
  isLongRunning: true,
  permissions: ['userIndex'],
});

export const addCustomerPurchase = defineContract({
  id: 'add-customer-purchase',
  area: 'customers',
  summary: 'Link a purchase to a customer; takes precedence over all claims from validations',
  method: 'POST',
  path: '/v3/customers/:applicationUsername/purchases',
  aliases: ['/v2/customers/:applicationUsername/purchases'],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'purchase.claimed',
  params,
  body: v.object({ purchaseId: Id }),
  // Spec: not shown. The response of `get-customer-purchases`, with `ok`.
  response: v.strictObject({ ok: v.literal(true), applicationUsername: v.string(), purchases: PurchaseCollection }),
  // Recording requires the master key of the erased names.
  additionalLevels: ['support'],
  permissions: ['write', 'secrets'],
});

// Spec: not shown. Moves what an anonymous customer has to the customer who has signed in.
export const mergeCustomer = defineContract({
  id: 'merge-customer',
  area: 'customers',
  summary: 'Merge a customer into this one',
  method: 'POST',
  path: '/v3/customers/:applicationUsername/merge',
  aliases: [],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'customer.merged',
  params,
  body: v.object({ from: Username }),
  response: v.strictObject({
    ok: v.literal(true),
    applicationUsername: v.string(),
    from: v.string(),
    mergeId: v.string(),
    /** Numbers of what this request has moved. */
    purchases: v.number(),
    aliases: v.number(),
    grants: v.number(),
    /** Whether everything is moved. Otherwise, repeat the request. */
    isComplete: v.boolean(),
  }),
  isLongRunning: true,
  // Recording requires the master key of the erased names.
  permissions: ['write', 'secrets', 'userIndex'],
});
