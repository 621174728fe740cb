import { describeObject, describeOperation, describeValue } from '../describe.ts';
import {
  cursorParameters,
  filterNote,
  includeNotifications,
  nextCursor,
  orderParameters,
  pagingParameters,
  purchaseId,
} from '../parameters.ts';
import {
  PurchaseCollection,
  PurchaseDetails,
  PurchaseNotification,
  PurchaseRecord,
  PurchaseRow,
  TransactionRecord,
} from '../purchase-records.ts';
import {
  getPurchase,
  getPurchaseOwners,
  getPurchaseTimeline,
  getRefreshToken,
  listPurchases,
  PurchaseClaim,
  refreshPurchase,
  UserAlias,
} from '../purchases.ts';
import {
  TimelineClaim,
  TimelineEvent,
  TimelineNotification,
  TimelinePayment,
  TimelineRecord,
} from '../timeline-records.ts';
import { getTransaction, listTransactions } from '../transactions.ts';

export const purchaseFields = {
  purchaseId: ['Id of the purchase with its platform prefix, the same for all renewals.', 'store_a:2000000123456789'],
  transactionId: ['Id of the latest transaction with its platform prefix.', 'store_a:2000000987654321'],
  productId: ['Product with its platform prefix, `{platform}:{productId}`.', 'store_a:premium'],
  platform: ['Store of the purchase.'],
  sandbox: ["Whether the purchase was made in the store's sandbox.", false],
  purchaseDate: ['Date of the purchase: for a subscription, of its first transaction.', '2026-01-15T09:30:00.000Z'],
  lastRenewalDate: ['Date of the latest renewal.', '2026-02-15T09:30:00.000Z'],
  expirationDate: ['Date at which the subscription expires or renews.', '2026-03-15T09:30:00.000Z'],
  renewalIntent: ['Whether the subscription will renew.'],
  renewalIntentChangeDate: ['Date at which the renewal intent changed.', '2026-02-20T08:00:00.000Z'],
  cancelationReason: ['Why the purchase ended or does not renew. Absent if it was not canceled.'],
  isPending: ['Whether the payment is pending. The purchase gives no access until it is paid.', false],
  isAcknowledged: ['Whether the purchase is acknowledged at the store.', true],
  isConsumed: ['Whether the consumable is consumed at the store.', false],
  isBillingRetryPeriod: ['Whether the subscription is in its grace period after a failed payment.', false],
  isTrialPeriod: ['Whether the subscription is in a free trial.', false],
  isIntroPeriod: ['Whether the subscription is in an introductory period.', false],
  priceConsentStatus: ['Whether the customer agreed to a price increase.'],
  discountId: ['Id of the applied discount.', 'winter-sale'],
  quantity: ['Number of purchased units. Meaningful for consumables only.', 1],
  currency: ['ISO 4217 code of the currency of `amountMicros`.', 'EUR'],
  isSharedPurchase: ['Whether another store account made the purchase, for example in a family.', false],
  isExpired: ['Whether the subscription has expired.', false],
  unverifiedSince: [
    'Renewal date since which the store could not be queried. Absent if the state is verified.',
    '2026-03-15T09:30:00.000Z',
  ],
  isPaused: ['Whether the subscription is paused. It then gives no access.', false],
  autoResumeDate: [
    'Date of the automatic resume. Only present while the subscription is paused.',
    '2026-04-15T00:00:00.000Z',
  ],
  amountUSD: ['Amount of the latest transaction in US dollars, or null if it is unknown.', 5.42, 'decimal'],
  amountMicros: ['Amount of the latest transaction in millionths of `currency`, or null if it is unknown.', 4990000],
} as const;

const transactionFields = {
  transactionId: ['Id of the transaction with its platform prefix.', 'store_a:2000000987654321'],
  purchaseId: ['Id of its purchase with the platform prefix.', 'store_a:2000000123456789'],
  productId: ['Product with its platform prefix, `{platform}:{productId}`.', 'store_a:premium'],
  offerId: ['Offer, `{platform}:{productId}#{offerId}`, or null if there is none.', 'store_a:premium#winter-sale'],
  platform: ['Store of the transaction.'],
  sandbox: ["Whether it was made in the store's sandbox.", false],
  purchaseDate: ['Date of the payment.', '2026-02-15T09:30:00.000Z'],
  expirationDate: ['End of the paid period.', '2026-03-15T09:30:00.000Z'],
  isPending: ['Whether the payment is pending.', false],
  isTrialPeriod: ['Whether it starts a free trial.', false],
  isIntroPeriod: ['Whether it starts an introductory period.', false],
  quantity: ['Number of purchased units.', 1],
  amountUSD: ['Amount in US dollars at the rate of the day of purchase, or null if it is unknown.', 5.42, 'decimal'],
  amountMicros: ['Amount in millionths of `currency`, or null if it is unknown.', 4990000],
  currency: ['ISO 4217 code, or null if it is unknown.', 'EUR'],
  isReportedAmount: ['Whether the client reported the amount, because the store does not return it.', false],
  isBillingRetryPeriod: ['State of the purchase, at its latest transaction: whether it is in its grace period.', false],
  isAcknowledged: ['State of the purchase, at its latest transaction: whether it is acknowledged at the store.', true],
  renewalIntent: ['State of the purchase, at its latest transaction: whether it will renew.'],
  lastRenewalDate: [
    'State of the purchase, at its latest transaction: date of the latest renewal.',
    '2026-02-15T09:30:00.000Z',
  ],
  taxMicros: ['Tax within `amountMicros`. Absent if the store does not report it.', 830000],
  refundedAmountMicros: ['Refunded part of `amountMicros`.', 4990000],
  refundDate: ['Date of the latest refund.', '2026-02-18T12:00:00.000Z'],
} as const;

export const claimFields = {
  isEntitled: ['Whether the customer owns the purchase.', true],
  source: [
    '`validation`: by a receipt. `alias`: the store named the customer. `manual`: by a link of your server.',
    'validation',
  ],
  firstClaimedAt: ['Date of the first claim.', '2026-01-15T09:30:05.000Z'],
  lastClaimedAt: ['Date of the latest claim.', '2026-02-15T09:31:00.000Z'],
} as const;

const entitledUsers = ['Usernames of the customers who own the purchase.', ['alice']] as [string, string[]];
const timelineFields = {
  rows: ['The rows of the page, newest first.'],
  nextCursor: ['Cursor of the next page. Absent at the end of the list.', 'MTc2NzI2ODgwMDAwMCMwMUtEWFo4'],
} as const;
export const timelineFieldDescriptions = timelineFields;

export const purchaseDescriptions = [
  describeObject(
    'Purchase',
    PurchaseRecord,
    'A purchase: the state that results from all of its transactions.',
    purchaseFields,
  ),
  describeObject('PurchaseNotification', PurchaseNotification, 'A change in the lifecycle of a purchase.', {
    date: ['Date of the change.', '2026-02-15T09:30:00.000Z'],
    reason: ['Kind of the change, such as `PURCHASED`, `RENEWED`, `EXPIRED` or `REFUNDED`.', 'RENEWED'],
  }),
  describeObject('PurchaseDetails', PurchaseDetails, 'A purchase with the customers who own it.', {
    ...purchaseFields,
    entitledUsers,
    notifications: ['Its lifecycle notifications. Only present with `include_notifications=true`.'],
  }),
  describeObject('PurchaseRow', PurchaseRow, 'A purchase in a list.', {
    ...purchaseFields,
    entitledUsers,
    notifications: ['Its lifecycle notifications. Only present with `include_notifications=true`.'],
    raw: ['Private. Null if no response of the store is kept.', {}],
    canRefresh: ['Whether the service can query the store for the purchase again.', true],
  }),
  describeValue(
    'PurchaseCollection',
    PurchaseCollection,
    'Purchases of a customer, one for each product, by product id with platform prefix.',
  ),
  describeObject('Transaction', TransactionRecord, 'An operation that starts or renews a purchase.', transactionFields),
  describeObject('PurchaseList', listPurchases.response, 'A page of purchases.', {
    paging: ['Position of the page.'],
    rows: ['The purchases of the page.'],
  }),
  describeObject('TransactionList', listTransactions.response, 'A page of transactions.', {
    paging: ['Position of the page.'],
    rows: ['The transactions of the page.'],
    nextCursor,
  }),
  describeObject('TransactionRow', listTransactions.response.entries.rows.item, 'A transaction in a list.', {
    ...transactionFields,
    notifications: ['Lifecycle notifications of its purchase. Only present with `include_notifications=true`.'],
    entitledUsers: ['The customers who own its purchase. Only present with `include_customers=true`.', ['alice']],
  }),
  describeObject('PurchaseClaim', PurchaseClaim, 'A claim of a customer on a purchase.', {
    applicationUsername: ['The customer who claims the purchase.', 'alice'],
    ...claimFields,
  }),
  describeObject('UserAlias', UserAlias, "A form of a username in the store's data.", {
    alias: ["The name in the store's data.", 'b6589fc6-ab0d-c82c-f120-99d1c2d40ab9'],
    applicationUsername: ['The customer that it identifies. Absent if the customer is unknown.', 'alice'],
  }),
  describeObject(
    'PurchaseOwners',
    getPurchaseOwners.response,
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
    'TimelineEvent',
    TimelineEvent,
    'An event of the service: a request, a store notification or a webhook.',
    {
      type: ['The constant `event`.', 'event'],
      date: ['Date of the event.', '2026-01-15T09:30:05.000Z'],
      eventId: ['Id of the event.', '4b7e1f60-9a1c-4f0e-8a51-0d3c5b2e9f10'],
      eventType: ['Type of the event.', 'receipt.validated'],
      ok: ['Whether the request or job succeeded.', true],
      message: ['Why the request or job failed.', 'Transaction has expired or was cancelled.'],
      applicationUsername: ['The customer of the event.', 'alice'],
      reasons: ['Lifecycle reasons, or the reason of a webhook.', ['PURCHASED']],
      notificationType: ["Type of a store notification in the store's terms.", 'DID_RENEW'],
      productIds: ['Products of the event, with platform prefix.', ['store_a:premium']],
      purchaseIds: ['Purchases of the event, with platform prefix.', ['store_a:2000000123456789']],
      deliveryId: ['Webhook delivery, for an attempt of a webhook.', '5f2b7c9d1e3a4b6c8d0e2f4a6b8c0d1e'],
    },
  ),
  describeObject('TimelinePayment', TimelinePayment, 'A payment.', {
    type: ['The constant `payment`.', 'payment'],
    date: ['Date of the payment.', '2026-02-15T09:30:00.000Z'],
    transaction: ['The transaction.'],
  }),
  describeObject('TimelineNotification', TimelineNotification, 'A change in the lifecycle of a purchase.', {
    type: ['The constant `notification`.', 'notification'],
    date: ['Date of the change.', '2026-02-15T09:30:00.000Z'],
    reason: ['Kind of the change.', 'RENEWED'],
  }),
  describeObject('TimelineClaim', TimelineClaim, 'A claim of a customer.', {
    type: ['The constant `claim`.', 'claim'],
    date: ['Date of the claim.', '2026-01-15T09:30:05.000Z'],
    applicationUsername: ['The customer.', 'alice'],
    source: ['Source of the claim, as in the owners of a purchase.', 'validation'],
  }),
  describeValue(
    'TimelineRecord',
    TimelineRecord,
    'Something that happened: an event, a payment, a lifecycle notification or a claim.',
  ),
  describeObject(
    'PurchaseTimeline',
    getPurchaseTimeline.response,
    'A page of the history of a purchase, and the state of its refreshes.',
    {
      ...timelineFields,
      purchaseId: purchaseId,
      asOf: ["Time on the store's clock up to which the stored state is complete.", '2026-02-15T09:30:00.000Z'],
      checkedAt: ['Last time at which the service received the state of the store.', '2026-02-15T09:30:05.000Z'],
      updatedAt: ['Last change of the purchase.', '2026-02-15T09:30:05.000Z'],
      createdAt: ['Date at which the service recorded the purchase.', '2026-01-15T09:30:05.000Z'],
      lastRefreshAt: ['Last scheduled or requested query of the store.', '2026-02-15T09:30:05.000Z'],
      failedRefreshes: ['Failed refreshes since the last successful one.', 0],
      nextRefreshAt: [
        'Date of the next refresh. Absent if only clients and store notifications can change the purchase.',
        '2026-03-15T09:31:00.000Z',
      ],
      canRefresh: ['Whether the service can query the store for the purchase again.', true],
    },
  ),
  describeObject(
    'RefreshState',
    getRefreshToken.response,
    'Data with which the service queries the store again; for internal use.',
    {
      purchaseId: purchaseId,
      latestRefresh: ['Date of the latest refresh.', '2026-02-15T09:30:05.000Z'],
      refreshToken: ['Members by name; they depend on the store.', { originalTransactionId: '2000000123456789' }],
    },
  ),
];

const selectedRange = 'With `startdate` or `enddate`, the page parameters are ignored.';

export const purchaseOperations = [
  describeOperation(listPurchases, {
    description: `Lists the purchases of the app, oldest first. ${selectedRange} The response then has all purchases that changed in the range.`,
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
        'Whether to select only purchases that give access now. Ignored without `customerId`. Only `true` selects them. If the customer has more than 100 purchases, the response has the best ones of each product.',
        true,
      ],
    },
  }),
  describeOperation(getPurchase, {
    description: 'Returns a purchase with the customers who own it, without a query of the store.',
    params: { purchaseId },
    query: { include_notifications: includeNotifications },
  }),
  describeOperation(getRefreshToken, {
    description: 'Returns the data with which the service queries the store for a purchase. For internal use.',
    params: { purchaseId },
  }),
  describeOperation(refreshPurchase, {
    description: 'Queries the store for a purchase outside the schedule, records the result and returns it.',
    params: { purchaseId },
  }),
  describeOperation(getPurchaseOwners, {
    description: 'Returns the customers who claim a purchase, and why each of them owns it or not.',
    params: { purchaseId },
  }),
  describeOperation(getPurchaseTimeline, {
    description: 'Lists everything about a purchase by time, newest first, for support.',
    params: { purchaseId },
    query: cursorParameters,
  }),
  describeOperation(listTransactions, {
    description: `Lists the transactions of the app by date of purchase, oldest first. ${filterNote}`,
    query: {
      ...pagingParameters,
      ...orderParameters,
      applicationUsername: ['Selects the transactions of the purchases that a customer owns.', 'alice'],
      platform: ['Selects the transactions of a store.', 'store_a'],
      productId: ['Selects the transactions of a product, with or without the platform prefix.', 'premium'],
      refunded: ['`true` selects refunded transactions, also in part, `false` the others.', 'true'],
      sandbox: ['`false` leaves out transactions of a sandbox, `true` selects them.', 'false'],
      include_customers: ['Whether rows list the customers who own the purchase. Only `true` lists them.', 'true'],
      startdate: ['Selects transactions at or after this date.', '2026-01-01T00:00:00Z'],
      enddate: ['Selects transactions before this date.', '2026-02-01T00:00:00Z'],
      include_notifications: includeNotifications,
      purchaseId: ['Selects the transactions of a purchase.', 'store_a:2000000123456789'],
    },
  }),
  describeOperation(getTransaction, {
    description: 'Returns a transaction.',
    params: { transactionId: ['Transaction id with its platform prefix.', 'store_a:2000000987654321'] },
  }),
];
