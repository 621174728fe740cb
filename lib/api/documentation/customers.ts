import {
  addCustomerPurchase,
  CustomerClaim,
  CustomerSpend,
  CustomerSummary,
  getCustomer,
  getCustomerClaims,
  getCustomerPurchases,
  getCustomerSubscription,
  getCustomerTimeline,
  getCustomerTransactions,
  listCustomers,
  mergeCustomer,
} from '../customers.ts';
import { describeObject, describeOperation } from '../describe.ts';
import {
  applicationUsername,
  cursorParameters,
  filterNote,
  nextCursor,
  orderParameters,
  pagingParameters,
  purchaseId,
  transactionPagingParameters,
} from '../parameters.ts';
import { CustomerInfo, EventInfo, EventResponse, EventSummary } from '../purchase-records.ts';
import { claimFields, purchaseFields, timelineFieldDescriptions } from './purchases.ts';

const params = { applicationUsername } as const;
const purchases = ["The customer's purchases by product id with platform prefix."] as const;
const transactions = ["The customer's transactions, latest first."] as const;

export const customerDescriptions = [
  describeObject('CustomerInfo', CustomerInfo, 'Summary of the purchases of a customer.', {
    lastPurchaseId: ['Id of the latest purchase.', 'store_a:2000000123456789'],
    lastPurchaseDate: ['Date of the latest purchase.', '2026-01-15T09:30:00.000Z'],
    lastRenewalDate: ['Date of the latest renewal.', '2026-02-15T09:30:00.000Z'],
    expirationDate: ['Date at which the subscription expires or renews.', '2026-03-15T09:30:00.000Z'],
    activeSubscriber: ['Whether the customer owns an active subscription.', true],
    lapsedSubscriber: ['Whether the customer owned a subscription that is now expired.', false],
    renewalIntent: ['Whether the subscription will renew.'],
    isTrialPeriod: ['Whether the subscription is in a free trial.', false],
    isIntroPeriod: ['Whether the subscription is in an introductory period.', false],
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
    isComplete: ['Whether it contains all transactions. It contains the latest 100.', true],
  }),
  describeObject('CustomerList', listCustomers.response, 'A page of customers.', {
    paging: ['Position of the page.'],
    rows: ['The customers of the page.'],
    nextCursor,
  }),
  describeObject('EventResponse', EventResponse, 'The response to a recorded request.', {
    status: ['HTTP status.', 200],
    ok: ['Whether the request succeeded.', true],
    message: ['Why it failed, or an empty string.', ''],
  }),
  describeObject('EventSummary', EventSummary, 'The content of an event in a few fields.', {
    date: ['Date of the event.', '2026-01-15T09:30:05.000Z'],
    type: ['Type of the event.', 'receipt.validated'],
    productIds: ['Products of the event, with platform prefix.', ['store_a:premium']],
    purchaseIds: ['Purchases of the event, with platform prefix.', ['store_a:2000000123456789']],
    response: ['The response to the request.'],
  }),
  describeObject('CustomerEvent', EventInfo, 'A recent event of a customer.', {
    eventId: ['Id of the event.', '4b7e1f60-9a1c-4f0e-8a51-0d3c5b2e9f10'],
    eventInfo: ['The content of the event.'],
  }),
  describeObject('CustomerDetails', getCustomer.response, 'A customer with everything that the service stores.', {
    applicationUsername,
    purchases,
    events: ['The latest events of the customer, newest first.'],
    transactions,
    customerInfo: ['Summary of the purchases.'],
  }),
  describeObject('CustomerPurchases', getCustomerPurchases.response, "A customer's purchases.", {
    applicationUsername,
    purchases,
  }),
  describeObject('CustomerSubscription', getCustomerSubscription.response, "A customer's current subscription.", {
    applicationUsername,
    subscription: ['The subscription. Absent if the customer has never had one.'],
  }),
  describeObject('CustomerTransactions', getCustomerTransactions.response, "A customer's transactions.", {
    applicationUsername,
    transactions,
  }),
  describeObject('CustomerTimeline', getCustomerTimeline.response, 'A page of the history of a customer.', {
    ...timelineFieldDescriptions,
    applicationUsername,
  }),
  describeObject('CustomerClaim', CustomerClaim, 'A claim of a customer on a purchase.', {
    purchaseId,
    productId: purchaseFields.productId,
    platform: purchaseFields.platform,
    ...claimFields,
  }),
  describeObject('CustomerClaims', getCustomerClaims.response, 'A page of the claims of a customer.', {
    applicationUsername,
    rows: [
      'The claims of the page, by the date of the first claim, newest first. A page can have fewer rows than `limit`.',
    ],
    nextCursor: timelineFieldDescriptions.nextCursor,
  }),
  describeObject('PurchaseLink', addCustomerPurchase.body, 'The purchase to link to the customer.', {
    purchaseId: ['Purchase id with its platform prefix.', 'store_a:2000000123456789'],
  }),
  describeObject('LinkedPurchases', addCustomerPurchase.response, "A customer's purchases after the link.", {
    ok: ['The constant true.', true],
    applicationUsername,
    purchases,
  }),
  describeObject('CustomerMergeRequest', mergeCustomer.body, 'The customer to merge into this one.', {
    from: ['`applicationUsername` of the customer who loses the purchases.', 'anonymous-5f0c8a1b'],
  }),
  describeObject('CustomerMerge', mergeCustomer.response, 'What a request has moved.', {
    ok: ['The constant true.', true],
    applicationUsername,
    from: ['The customer who has lost the purchases.', 'anonymous-5f0c8a1b'],
    mergeId: ['Id of the merge in its log, with which an operator can reverse it.', 'merge_5f0c8a1b9d3e4f6071829'],
    purchases: ['Number of purchases whose claim this request has moved.', 2],
    aliases: ['Number of user aliases that identify this customer now.', 2],
    grants: ['Number of grants that this request has moved.', 0],
    isComplete: ['Whether everything is moved. Otherwise, repeat the request.', true],
  }),
];

export const customerOperations = [
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
    params,
    query: transactionPagingParameters,
  }),
  describeOperation(getCustomerPurchases, {
    description:
      "Returns the customer's purchases, one for each product: the active one, or the one that expires last. An unknown customer has none.",
    params,
  }),
  describeOperation(getCustomerSubscription, {
    description: "Returns the customer's current subscription, or the last one if none is active.",
    params,
  }),
  describeOperation(getCustomerTransactions, {
    description: "Lists the customer's transactions, latest first.",
    params,
    query: transactionPagingParameters,
  }),
  describeOperation(getCustomerTimeline, {
    description: 'Lists everything about a customer by time, newest first, for support.',
    params,
    query: cursorParameters,
  }),
  describeOperation(getCustomerClaims, {
    description:
      'Lists the purchases that the customer claims by a receipt, by a name in the data of the store or by a link, and whether the customer owns each of them now. `GET /v3/purchases/:purchaseId/owners` has the reason.',
    params,
    query: {
      ...cursorParameters,
      isEntitled: [
        'Selects the claims on purchases that the customer owns (`true`) or does not own (`false`).',
        'false',
      ],
    },
  }),
  describeOperation(addCustomerPurchase, {
    description: 'Links a purchase to a customer. The link takes precedence over all claims from validations.',
    params,
  }),
  describeOperation(mergeCustomer, {
    description:
      'Moves the claims, user aliases and grants of the customer `from` to this one, for example after an anonymous customer has signed in. Claims keep their times, so the strategy decides as before. Idempotent: a repeated request moves what the other customer has received since. One request moves at most 250 purchases: repeat it until `isComplete`. Both customers get a webhook for each purchase and grant that they gain or lose. `customer unmerge` reverses it.',
    params,
  }),
];
