import * as v from 'valibot';
import { defineContract } from './contract.ts';
import { Id, Username } from './identifiers.ts';
import { DateOrDateTime, PagingInformation, pagingQuery } from './paging.ts';
import { PurchaseDetails, PurchaseRow } from './purchase-records.ts';
import { DateTime, emptyAsAbsent } from './schemas.ts';
import { timelineQuery, timelineRows } from './timeline-records.ts';

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

// Spec: not shown. Queries the store outside the schedule, for support and the console.
export const refreshPurchase = defineContract({
  id: 'refresh-purchase-now',
  area: 'purchases',
  summary: 'Query the store for a purchase immediately and get the result',
  method: 'POST',
  path: '/v3/purchases/:purchaseId/refresh',
  aliases: [],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'receipt.refreshed',
  params: v.object({ purchaseId: Id }),
  response: PurchaseDetails,
  additionalLevels: ['support'],
  permissions: ['write', 'stores'],
});

/** A claim of a customer on a purchase. */
export const PurchaseClaim = v.strictObject({
  applicationUsername: v.string(),
  isEntitled: v.boolean(),
  /** `validation`: by a receipt. `alias`: the store named the customer. `manual`: by a link of the app. */
  source: v.picklist(['validation', 'alias', 'manual']),
  firstClaimedAt: DateTime,
  lastClaimedAt: DateTime,
});

/** A form of a username in the store's data, with the customer that it identifies. */
export const UserAlias = v.strictObject({ alias: v.string(), applicationUsername: v.exactOptional(v.string()) });

// Spec: not shown. The reason why customers own a purchase.
export const getPurchaseOwners = defineContract({
  id: 'get-purchase-owners',
  area: 'purchases',
  summary: 'Get the customers who claim a purchase, and why they own it or not',
  method: 'GET',
  path: '/v3/purchases/:purchaseId/owners',
  aliases: [],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'purchase.read',
  params: v.object({ purchaseId: Id }),
  response: v.strictObject({
    purchaseId: v.string(),
    strategy: v.picklist(['all', 'first', 'last', 'last-if-inactive']),
    /** `manual`: the latest manual link decides, and not the strategy. `unpaid`: it does not have an owner. */
    decidedBy: v.picklist(['manual', 'strategy', 'unpaid']),
    entitledUsers: v.array(v.string()),
    claims: v.array(PurchaseClaim),
    userAliases: v.array(UserAlias),
  }),
  permissions: [],
});

// Spec: not shown. The history of a purchase, for support.
export const getPurchaseTimeline = defineContract({
  id: 'get-purchase-timeline',
  area: 'purchases',
  summary: 'List the lifecycle notifications, payments, claims and events of a purchase, newest first',
  method: 'GET',
  path: '/v3/purchases/:purchaseId/timeline',
  aliases: [],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'purchase.read',
  params: v.object({ purchaseId: Id }),
  query: timelineQuery,
  response: v.strictObject({
    purchaseId: v.string(),
    /** Time on the store's clock up to which the stored state is complete. */
    asOf: DateTime,
    /** Last time at which the service received the state of the store. */
    checkedAt: DateTime,
    /** Last change of the purchase. */
    updatedAt: DateTime,
    createdAt: DateTime,
    /** Last scheduled or requested query of the store. */
    lastRefreshAt: v.exactOptional(DateTime),
    /** Failed refreshes since the last successful one. */
    failedRefreshes: v.number(),
    /** Absent if the purchase can change by clients and store notifications only. */
    nextRefreshAt: v.exactOptional(DateTime),
    canRefresh: v.boolean(),
    ...timelineRows,
  }),
  isLongRunning: true,
  permissions: [],
});

const optionalText = v.optional(v.string());

/**
 * Ignores the page parameters, even invalid ones, if `startdate` or `enddate` is present. Ignores `order` and `active`,
 * even invalid ones, without `customerId`.
 */
const ListPurchasesQuery = v.pipe(
  v.object({
    startdate: optionalText,
    enddate: optionalText,
    limit: optionalText,
    skip: optionalText,
    offset: optionalText,
    include_notifications: optionalText,
    customerId: optionalText,
    order: optionalText,
    active: optionalText,
  }),
  v.transform(({ limit, skip, offset, order, active, ...rest }) => ({
    ...rest,
    ...(!rest.startdate && !rest.enddate && { limit, skip, offset }),
    ...(rest.customerId && { order, active }),
  })),
  v.object({
    startdate: emptyAsAbsent(DateOrDateTime),
    enddate: emptyAsAbsent(DateOrDateTime),
    ...pagingQuery,
    include_notifications: optionalText,
    // Spec: not shown. Clients send it to select the purchases of a customer.
    customerId: emptyAsAbsent(Username),
    // Spec: not shown. For customers with many purchases.
    order: emptyAsAbsent(v.picklist(['oldest', 'newest'])),
    active: optionalText,
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
