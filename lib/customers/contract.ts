import * as v from 'valibot';
import { defineContract } from '../api/contract.ts';
import {
  type ApiPart,
  applicationUsername,
  cursorParameters,
  describeObject,
  describeOperation,
  filterNote,
  nextCursor,
  orderParameters,
  pagingParameters,
  transactionPagingParameters,
} from '../api/describe.ts';
import {
  cursorQuery,
  NextCursor,
  PagingInformation,
  pagingQuery,
  transactionPagingQuery,
  UnreadableIds,
} from '../api/paging.ts';
import {
  EntitlementName,
  emptyAsAbsent,
  Id,
  OptionalBoolean,
  OptionalDateTime,
  OptionalText,
  PlatformParam,
  QueryFlag,
  RenewalIntent,
  Username,
} from '../api/schemas.ts';
import { EventInfo } from '../events/contract.ts';
import { PurchaseCollection, PurchaseRecord } from '../purchases/purchase-contract.ts';
import { timelineQuery, timelineRows, timelineTexts } from '../purchases/timeline-contract.ts';
import { TransactionRecord } from '../purchases/transaction-contract.ts';

const params = v.object({ applicationUsername: Username });

export const CustomerInfo = v.strictObject({
  lastPurchaseId: OptionalText,
  lastPurchaseDate: OptionalDateTime,
  lastRenewalDate: OptionalDateTime,
  expirationDate: OptionalDateTime,
  activeSubscriber: OptionalBoolean,
  lapsedSubscriber: OptionalBoolean,
  renewalIntent: v.exactOptional(RenewalIntent),
  isTrialPeriod: OptionalBoolean,
  isIntroPeriod: OptionalBoolean,
  discountId: OptionalText,
});
export type CustomerInfo = v.InferOutput<typeof CustomerInfo>;

/** Payments of a customer in US dollars less refunds, without sandbox purchases. */
export const CustomerSpend = v.strictObject({
  amountUSD: v.number(),
  /** If false, it covers the latest 100 transactions only. */
  isComplete: v.boolean(),
});
export type CustomerSpend = v.InferOutput<typeof CustomerSpend>;

/** A customer with a summary of the purchases. */
export const CustomerSummary = v.strictObject({
  applicationUsername: v.string(),
  customerInfo: CustomerInfo,
  // Spec: not shown. Time of the first purchase or claim. Present in a list that is read by cursor, and with
  // `include_spend`.
  createdAt: OptionalDateTime,
  /** Present with `include_spend`. */
  spend: v.exactOptional(CustomerSpend),
});

export type CustomerSummary = v.InferOutput<typeof CustomerSummary>;

/** State of the subscriptions of a customer. `active` contains `trial` and `grace`. */
export const SubscriberState = v.picklist(['active', 'trial', 'grace', 'lapsed', 'none']);
export type SubscriberState = v.InferOutput<typeof SubscriberState>;

const CustomerList = v.strictObject({
  /** With a filter, an order or a cursor, `total` is the number of rows of the page. */
  paging: PagingInformation,
  rows: v.array(CustomerSummary),
  nextCursor: NextCursor,
  unreadableUsers: UnreadableIds,
});

export const listCustomers = defineContract({
  id: 'list-customers',
  area: 'customers',
  summary: 'List customers',
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
    platform: emptyAsAbsent(PlatformParam),
    productId: emptyAsAbsent(Id),
    sandbox: QueryFlag,
    /** Adds the payments of each customer. Only for at most 100 customers of `applicationUsername`. */
    include_spend: QueryFlag,
  }),
  response: CustomerList,
  permissions: ['indexes'],
});

const CustomerDetails = v.strictObject({
  applicationUsername: v.string(),
  purchases: PurchaseCollection,
  events: v.array(EventInfo),
  transactions: v.array(TransactionRecord),
  customerInfo: CustomerInfo,
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
  response: CustomerDetails,
  permissions: [],
});

const CustomerPurchases = v.strictObject({ applicationUsername: v.string(), purchases: PurchaseCollection });

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
  response: CustomerPurchases,
  permissions: [],
});

const CustomerSubscription = v.strictObject({
  applicationUsername: v.string(),
  subscription: v.exactOptional(PurchaseRecord),
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
  response: CustomerSubscription,
  permissions: [],
});

const CustomerTransactions = v.strictObject({
  applicationUsername: v.string(),
  transactions: v.array(TransactionRecord),
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
  response: CustomerTransactions,
  permissions: [],
});

const CustomerTimeline = v.strictObject({ applicationUsername: v.string(), ...timelineRows });

// Spec: not shown. Everything about a customer by time, for support.
export const getCustomerTimeline = defineContract({
  id: 'get-customer-timeline',
  area: 'customers',
  summary: 'List everything about a customer by time',
  method: 'GET',
  path: '/v3/customers/:applicationUsername/timeline',
  aliases: [],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'customer.read',
  params,
  query: timelineQuery,
  response: CustomerTimeline,
  isLongRunning: true,
  permissions: ['indexes'],
});

export const purchasesText = ["The customer's purchases by product id with platform prefix."] as const;
const transactionsText = ["The customer's transactions, latest first."] as const;

const descriptions = [
  describeObject('CustomerInfo', CustomerInfo, 'Summary of the purchases of a customer.', {
    lastPurchaseId: ['Id of the latest purchase.', 'store_a:2000000123456789'],
    lastPurchaseDate: ['Date of the latest purchase.', '2026-01-15T09:30:00.000Z'],
    lastRenewalDate: ['Date of the latest renewal.', '2026-02-15T09:30:00.000Z'],
    expirationDate: ['Date at which the subscription expires or renews.', '2026-03-15T09:30:00.000Z'],
    activeSubscriber: ['The customer owns an active subscription.', true],
    lapsedSubscriber: ['The customer owned a subscription that is now expired.', false],
    renewalIntent: ['`Renew` if the subscription will renew at its end, otherwise `Lapse`.'],
    isTrialPeriod: ['The subscription is in a free trial.', false],
    isIntroPeriod: ['The subscription is in an introductory period.', false],
    discountId: ['Id of the applied discount.', 'winter-sale'],
  }),
  describeObject('CustomerSummary', CustomerSummary, 'A customer with a summary of the purchases.', {
    applicationUsername,
    customerInfo: ['Summary of the purchases.'],
    createdAt: [
      'Time of the first purchase or claim. Present in a list that is read by cursor.',
      '2026-01-15T09:30:05.000Z',
    ],
    spend: ['Payments of the customer. Only present with `include_spend=true`.'],
  }),
  describeObject('CustomerSpend', CustomerSpend, 'Payments of a customer, less refunds, without sandbox purchases.', {
    amountUSD: ['US dollars at the rate of each purchase date.', 49.9, 'decimal'],
    isComplete: ['It contains all transactions. It contains the latest 100.', true],
  }),
  describeObject('CustomerList', CustomerList, 'A page of customers.', {
    paging: ['Position of the page.'],
    rows: ['The customers of the page.'],
    nextCursor,
    unreadableUsers: [
      'Usernames of the customers that the list leaves out, because their data is damaged. Absent if there are none.',
      ['alice'],
    ],
  }),
  describeObject('CustomerDetails', CustomerDetails, 'A customer with everything that the service stores.', {
    applicationUsername,
    purchases: purchasesText,
    events: ['The latest events of the customer, newest first.'],
    transactions: transactionsText,
    customerInfo: ['Summary of the purchases.'],
  }),
  describeObject('CustomerPurchases', CustomerPurchases, "A customer's purchases.", {
    applicationUsername,
    purchases: purchasesText,
  }),
  describeObject('CustomerSubscription', CustomerSubscription, "A customer's current subscription.", {
    applicationUsername,
    subscription: ['The subscription. Absent if the customer has never had one.'],
  }),
  describeObject('CustomerTransactions', CustomerTransactions, "A customer's transactions.", {
    applicationUsername,
    transactions: transactionsText,
  }),
  describeObject('CustomerTimeline', CustomerTimeline, 'A page of the history of a customer.', {
    ...timelineTexts,
    applicationUsername,
  }),
];

const operations = [
  describeOperation(listCustomers, {
    description:
      'Lists the customers of the app, oldest first, or the customers with the given usernames. The filters `platform`, ' +
      `\`productId\` and \`sandbox\` apply to the last purchase. ${filterNote} \`entitlement\` reads 200 rows at most.`,
    query: {
      ...pagingParameters,
      ...orderParameters,
      state: [
        'Selects customers by their subscriptions. `active` contains `trial` and `grace`. `none`: never subscribed.',
        'trial',
      ],
      entitlement: ['Selects customers who have the entitlement now.', 'premium'],
      platform: ['Selects customers by the store of the last purchase.', 'store_a'],
      productId: ['Selects customers by the product of the last purchase.', 'premium'],
      sandbox: ['`false` leaves out customers whose last purchase is of a sandbox, `true` selects them.', 'false'],
      include_spend: [
        '`true` adds the payments of each customer. Only with `applicationUsername`, for at most 100 customers.',
        'true',
      ],
      applicationUsername: ['Usernames, separated by commas, each URI-encoded. At most 1,000.', 'alice,bob'],
    },
  }),
  describeOperation(getCustomer, {
    description: 'Returns a customer with purchases, transactions and latest events. An unknown customer has none.',
    params: { applicationUsername },
    query: transactionPagingParameters,
  }),
  describeOperation(getCustomerPurchases, {
    description:
      "Returns the customer's purchases, one for each product: the active one, or the one that expires last. An unknown customer has none.",
    params: { applicationUsername },
  }),
  describeOperation(getCustomerSubscription, {
    description: "Returns the customer's current subscription, or the last one if none is active.",
    params: { applicationUsername },
  }),
  describeOperation(getCustomerTransactions, {
    description: "Lists the customer's transactions, latest first.",
    params: { applicationUsername },
    query: transactionPagingParameters,
  }),
  describeOperation(getCustomerTimeline, {
    description:
      'Lists validations, store notifications, webhooks, payments and credits of a customer, newest first, for support.',
    params: { applicationUsername },
    query: cursorParameters,
  }),
];

export const customerApi: ApiPart = { descriptions, operations };
