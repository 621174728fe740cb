import * as v from 'valibot';
import { defineContract } from '../api/contract.ts';
import {
  type ApiPart,
  describeObject,
  describeOperation,
  includeNotifications,
  pagingParameters,
  purchaseId,
  unreadableIds,
} from '../api/describe.ts';
import { DateOrDateTime, PagingInformation, pagingQuery, UnreadableIds } from '../api/paging.ts';
import { DateTime, emptyAsAbsent, Id, OptionalDateTime, OptionalText, Username } from '../api/schemas.ts';
import { entitledUsers, PurchaseDetails, PurchaseRow } from './purchase-contract.ts';

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
  writes: ['purchases'],
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
const UserAlias = v.strictObject({ alias: v.string(), applicationUsername: OptionalText });

const PurchaseOwners = v.strictObject({
  purchaseId: v.string(),
  strategy: v.picklist(['all', 'first', 'last', 'last-if-inactive']),
  /** `manual`: the latest manual link decides, and not the strategy. `unpaid`: it does not have an owner. */
  decidedBy: v.picklist(['manual', 'strategy', 'unpaid']),
  entitledUsers: v.array(v.string()),
  claims: v.array(PurchaseClaim),
  userAliases: v.array(UserAlias),
});

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
  response: PurchaseOwners,
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

const PurchaseList = v.strictObject({
  paging: PagingInformation,
  rows: v.array(PurchaseRow),
  unreadableIds: UnreadableIds,
});

export const listPurchases = defineContract({
  id: 'list-purchases',
  area: 'purchases',
  summary: 'List purchases, or those that changed in a date range',
  method: 'GET',
  path: '/v3/purchases',
  aliases: ['/v2/purchases'],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'purchase.read',
  query: ListPurchasesQuery,
  response: PurchaseList,
  isLongRunning: true,
  permissions: ['indexes'],
});

const RefreshState = v.strictObject({
  purchaseId: v.string(),
  latestRefresh: OptionalDateTime,
  refreshToken: v.exactOptional(v.record(v.string(), v.string())),
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
  response: RefreshState,
  permissions: ['secrets'],
});

export const claimTexts = {
  isEntitled: ['The customer owns the purchase.', true],
  source: [
    '`validation`: by a receipt. `alias`: the store named the customer. `manual`: by a link of your server.',
    'validation',
  ],
  firstClaimedAt: ['Date of the first claim.', '2026-01-15T09:30:05.000Z'],
  lastClaimedAt: ['Date of the latest claim.', '2026-02-15T09:31:00.000Z'],
} as const;

const selectedRange = 'With `startdate` or `enddate`, the page parameters are ignored.';

const descriptions = [
  describeObject('PurchaseList', PurchaseList, 'A page of purchases.', {
    paging: ['Position of the page.'],
    rows: ['The purchases of the page.'],
    unreadableIds,
  }),
  describeObject('PurchaseClaim', PurchaseClaim, 'A claim of a customer on a purchase.', {
    applicationUsername: ['The customer who claims the purchase.', 'alice'],
    ...claimTexts,
  }),
  describeObject('UserAlias', UserAlias, "A form of a username in the store's data.", {
    alias: ["The name in the store's data.", 'b6589fc6-ab0d-c82c-f120-99d1c2d40ab9'],
    applicationUsername: ['The customer that it identifies. Absent if the customer is unknown.', 'alice'],
  }),
  describeObject(
    'PurchaseOwners',
    PurchaseOwners,
    'The customers who claim a purchase, and the decision between them.',
    {
      purchaseId: purchaseId,
      strategy: ['Strategy of the app: all claimants own the purchase, or the first, or the last one.', 'all'],
      decidedBy: [
        '`manual`: the latest manual link decides. `strategy`: the strategy decides. `unpaid`: it does not have an owner.',
        'strategy',
      ],
      entitledUsers,
      claims: ['All claims.'],
      userAliases: ["Names in the store's data, each with the customer that it identifies."],
    },
  ),
  describeObject(
    'RefreshState',
    RefreshState,
    'Data with which the service queries the store again; for internal use.',
    {
      purchaseId: purchaseId,
      latestRefresh: ['Date of the latest refresh.', '2026-02-15T09:30:05.000Z'],
      refreshToken: ['Members by name; they depend on the store.', { originalTransactionId: '2000000123456789' }],
    },
  ),
];

const operations = [
  describeOperation(listPurchases, {
    description: `Lists the purchases of the app, oldest first. ${selectedRange} The response then has the purchases that changed in the range. If \`paging.total\` is larger, use a shorter range.`,
    query: {
      ...pagingParameters,
      startdate: ['Selects purchases that were last updated at or after this date.', '2026-01-01T00:00:00Z'],
      enddate: ['Selects purchases that were last updated before this date.', '2026-02-01T00:00:00Z'],
      include_notifications: includeNotifications,
      customerId: ['Selects the purchases of a customer.', 'alice'],
      order: [
        'Order by purchase date: `oldest` or `newest` first. Ignored without `customerId`. The default is `oldest`.',
        'newest',
      ],
      active: [
        'Select only purchases that give access now. Ignored without `customerId`. Only `true` selects them. If the customer has more than 100 purchases, the response has the best ones of each product.',
        true,
      ],
    },
  }),
  describeOperation(getPurchase, {
    description: 'Returns a purchase with the customers who own it, without a query of the store.',
    params: { purchaseId },
    query: { include_notifications: includeNotifications },
    errors: { 404: ['The purchase is not found.'] },
  }),
  describeOperation(getRefreshToken, {
    description: 'Returns the data with which the service queries the store for a purchase. For internal use.',
    params: { purchaseId },
    errors: { 404: ['The purchase is not found.'] },
  }),
  describeOperation(refreshPurchase, {
    description: 'Queries the store for a purchase outside the schedule, records the result and returns it.',
    params: { purchaseId },
    errors: { 404: ['The purchase is not found.', 'The store has no current data about the purchase.'] },
  }),
  describeOperation(getPurchaseOwners, {
    description: 'Returns the customers who claim a purchase, and why each of them owns it or not.',
    params: { purchaseId },
    errors: { 404: ['The purchase is not found.'] },
  }),
];

export const purchaseEndpointApi: ApiPart = { descriptions, operations };
