import * as v from 'valibot';
import { defineContract } from '../api/contract.ts';
import {
  type ApiPart,
  applicationUsername,
  cursorParameters,
  describeObject,
  describeOperation,
  purchaseId,
} from '../api/describe.ts';
import { NextCursor } from '../api/paging.ts';
import { DateTime, Id, PlatformToken, QueryFlag, Username } from '../api/schemas.ts';
import { claimTexts } from '../purchases/contract.ts';
import { PurchaseCollection, purchaseTexts } from '../purchases/purchase-contract.ts';
import { timelineQuery, timelineTexts } from '../purchases/timeline-contract.ts';
import { purchasesText } from './contract.ts';

const params = v.object({ applicationUsername: Username });

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

const CustomerClaims = v.strictObject({
  applicationUsername: v.string(),
  rows: v.array(CustomerClaim),
  nextCursor: NextCursor,
});

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
  response: CustomerClaims,
  isLongRunning: true,
  permissions: ['userIndex'],
});

const PurchaseLink = v.object({ purchaseId: Id });

// Spec: not shown. The response of `get-customer-purchases`, with `ok`.
const LinkedPurchases = v.strictObject({
  ok: v.literal(true),
  applicationUsername: v.string(),
  purchases: PurchaseCollection,
});

export const addCustomerPurchase = defineContract({
  id: 'add-customer-purchase',
  area: 'customers',
  summary: 'Link a purchase to a customer',
  method: 'POST',
  path: '/v3/customers/:applicationUsername/purchases',
  aliases: ['/v2/customers/:applicationUsername/purchases'],
  keyLevel: 'secret',
  errorFormat: 'default',
  eventType: 'purchase.claimed',
  params,
  body: PurchaseLink,
  response: LinkedPurchases,
  // Recording requires the master key of the erased names.
  additionalLevels: ['support'],
  permissions: ['write', 'secrets'],
  writes: ['purchases'],
});

const CustomerMergeRequest = v.object({ from: Username });

const CustomerMerge = v.strictObject({
  ok: v.literal(true),
  applicationUsername: v.string(),
  from: v.string(),
  mergeId: v.string(),
  /** Numbers of what this request has moved. */
  purchases: v.number(),
  aliases: v.number(),
  grants: v.number(),
  /** If false, repeat the request to move the rest. */
  isComplete: v.boolean(),
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
  body: CustomerMergeRequest,
  response: CustomerMerge,
  isLongRunning: true,
  // Recording requires the master key of the erased names.
  permissions: ['write', 'secrets', 'userIndex'],
  writes: ['purchases'],
});

const descriptions = [
  describeObject('CustomerClaim', CustomerClaim, 'A claim of a customer on a purchase.', {
    purchaseId,
    productId: purchaseTexts.productId,
    platform: purchaseTexts.platform,
    ...claimTexts,
  }),
  describeObject('CustomerClaims', CustomerClaims, 'A page of the claims of a customer.', {
    applicationUsername,
    rows: [
      'The claims of the page, by the date of the first claim, newest first. A page can have fewer rows than `limit`.',
    ],
    nextCursor: timelineTexts.nextCursor,
  }),
  describeObject('PurchaseLink', PurchaseLink, 'The purchase to link to the customer.', {
    purchaseId: ['Purchase id with its platform prefix.', 'store_a:2000000123456789'],
  }),
  describeObject('LinkedPurchases', LinkedPurchases, "A customer's purchases after the link.", {
    ok: ['The constant true.', true],
    applicationUsername,
    purchases: purchasesText,
  }),
  describeObject('CustomerMergeRequest', CustomerMergeRequest, 'The customer to merge into this one.', {
    from: ['`applicationUsername` of the customer who loses the purchases.', 'anonymous-5f0c8a1b'],
  }),
  describeObject('CustomerMerge', CustomerMerge, 'What a request has moved.', {
    ok: ['The constant true.', true],
    applicationUsername,
    from: ['The customer who has lost the purchases.', 'anonymous-5f0c8a1b'],
    mergeId: ['Id of the merge in its log, with which an operator can reverse it.', 'merge_5f0c8a1b9d3e4f6071829'],
    purchases: ['Number of purchases whose claim this request has moved.', 2],
    aliases: ['Number of user aliases that identify this customer now.', 2],
    grants: ['Number of grants that this request has moved.', 0],
    isComplete: ['Everything is moved. Otherwise, repeat the request.', true],
  }),
];

const operations = [
  describeOperation(getCustomerClaims, {
    description:
      'Lists the purchases that the customer claims by a receipt, by a name in the data of the store or by a link, and whether the customer owns each of them now. `GET /v3/purchases/:purchaseId/owners` has the reason.',
    params: { applicationUsername },
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
    params: { applicationUsername },
    errors: { 404: ['The purchase is not found.'] },
  }),
  describeOperation(mergeCustomer, {
    description:
      'Moves the claims, user aliases and grants of the customer `from` to this one, for example after an anonymous customer has signed in. Claims keep their times, so the strategy decides as before. Idempotent: a repeated request moves what the other customer has received since. One request moves at most 250 purchases: repeat it until `isComplete`. Both customers get a webhook for each purchase and grant that they gain or lose. Later validations and checkouts under the name `from` belong to this customer. `customer unmerge` reverses it.',
    params: { applicationUsername },
  }),
];

export const customerClaimApi: ApiPart = { descriptions, operations };
