import {
  AccessFact,
  changeGrant,
  createEntitlementToken,
  createGrant,
  EntitlementRecord,
  EntitlementSource,
  explainAccess,
  GrantingKey,
  GrantRecord,
  GrantSource,
  getCustomerEntitlements,
  getTokenKeys,
  listGrants,
  NextChange,
  PurchaseSource,
  revokeGrant,
  TokenKey,
} from '../entitlements.ts';
import { describeObject, describeOperation, describeValue } from './describe.ts';
import { applicationUsername } from './parameters.ts';

const params = { applicationUsername } as const;
const grantId = ['Id of the grant.', 'grant_5f0c8a1b9d3e4f60718293a4'] as const;
const accessToken = [
  "The customer's access token from a checkout that was paid. Required with the public key.",
  'ak_mB7GxQ2ZrT5VnK8wL4sYp1Hc6Ud3Ef9J',
] as const;
const asOf = ['Time of the response.', '2026-01-15T09:30:00.000Z'] as const;
const key = { id: '0f110b8bbde7', name: 'alice-support' } as const;

const grantFields = {
  grantId,
  entitlement: ['Name of the entitlement.', 'premium'],
  isActive: ['Whether the grant gives access now.', true],
  reason: ['Why the grant was made.', 'Lost her purchase with the old phone'],
  createdAt: ['Date of the grant.', '2026-01-15T09:30:00.000Z'],
  createdBy: ['The key that made the grant.'],
  until: ['End of the grant. Null: until it is revoked.', '2026-02-15T09:30:00.000Z'],
  changedAt: ['Date of the last change of the end. Absent without a change.', '2026-01-20T09:30:00.000Z'],
  changedBy: ['The key that changed the end.'],
  revokedAt: ['Date of the revocation. Absent if it is not revoked.', '2026-01-25T09:30:00.000Z'],
  revokedBy: ['The key that revoked the grant.'],
  movedAt: [
    'Date at which a merge moved the grant to another customer. Absent if it is still here.',
    '2026-01-25T09:30:00.000Z',
  ],
} as const;

export const entitlementDescriptions = [
  describeObject('PurchaseSource', PurchaseSource, 'The purchase that gives an entitlement.', {
    type: ['Always `purchase`.', 'purchase'],
    purchaseId: ['Id of the purchase.', 'store_a:2000000123456789'],
    platform: ['Store of the purchase.', 'store_a'],
    productId: ['Purchased product.', 'store_a:premium_monthly'],
  }),
  describeObject('GrantSource', GrantSource, 'The grant that gives an entitlement.', {
    type: ['Always `grant`.', 'grant'],
    grantId: ['Id of the grant.', 'grant_5f2c1a'],
  }),
  describeValue('EntitlementSource', EntitlementSource, 'The purchase or the grant that gives an entitlement.', {
    type: 'purchase',
    purchaseId: 'store_a:2000000123456789',
    platform: 'store_a',
    productId: 'store_a:premium_monthly',
  }),
  describeObject('Entitlement', EntitlementRecord, 'An entitlement of a customer, by its best source.', {
    isActive: ['Whether the customer has access now.', true],
    since: ['Start of the purchase or grant. Null if the store does not report it.', '2026-01-15T09:30:00.000Z'],
    until: [
      'End of access. A subscription that renews keeps access for 24 hours (`unverifiedHours`) after the renewal date. Null without an end, or, if it is not active, without a known end.',
      '2026-02-16T09:30:00.000Z',
    ],
    willRenew: ['Whether the store renews the purchase at the end.', true],
    isSandbox: ["Whether the purchase is of the store's sandbox.", false],
    isInGracePeriod: ['Whether the payment of a renewal failed and access goes on for now.', false],
    source: ['The best source: an active one takes precedence, then the one that ends last.'],
  }),
  describeObject('CustomerEntitlements', getCustomerEntitlements.response, 'The entitlements of a customer.', {
    applicationUsername,
    entitlements: ['All entitlements that the customer has or ever had, by name.'],
    asOf,
  }),
  describeObject('EntitlementTokenRequest', createEntitlementToken.body, 'What the token contains.', {
    nonce: ['Text that the token repeats, at most 200 characters.', 'n-0S6_WzA2Mj'],
    accessToken,
  }),
  describeObject('EntitlementToken', createEntitlementToken.response, 'A signed token.', {
    token: [
      'JWT, signed with ES256. Its keys are at `/.well-known/jwks.json`.',
      'eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJodHRwcyJ9.c2ln',
    ],
    expiresAt: ['End of the token. A refund takes effect then.', '2026-01-15T10:30:00.000Z'],
  }),
  describeObject('GrantingKey', GrantingKey, 'The API key that made or changed a grant.', {
    id: ['Id of the key.', key.id],
    name: ['Name of the key.', key.name],
  }),
  describeObject('Grant', GrantRecord, 'Access that a customer has without a purchase.', grantFields),
  describeObject('CustomerGrant', createGrant.response, 'A grant of a customer.', {
    applicationUsername,
    ...grantFields,
    warning: [
      'Present for a new grant of an entitlement that no product of the catalogue gives: its name can be wrong.',
      'No product of the catalogue gives this entitlement.',
    ],
  }),
  describeObject('CustomerGrants', listGrants.response, 'The grants of a customer.', {
    applicationUsername,
    rows: ['The grants, oldest first. Ended and revoked ones included.'],
  }),
  describeObject('GrantRequest', createGrant.body, 'The grant to make.', {
    entitlement: ['Name of the entitlement.', 'premium'],
    until: ['End of the grant. Absent: until it is revoked.', '2026-02-15T09:30:00.000Z'],
    reason: ['Why, at most 500 characters. Support reads it later.', 'Lost her purchase with the old phone'],
    idempotencyKey: ['A repeated request with the same key returns the first grant (200).', 'ticket-4711'],
  }),
  describeObject('GrantChange', changeGrant.body, 'The new end of the grant.', {
    until: ['End of the grant. Null: until it is revoked.', '2026-03-15T09:30:00.000Z'],
  }),
  describeObject('AccessFact', AccessFact, 'A fact that the access of a customer follows from.', {
    at: ['Date of the fact. Null for a state or a setting.', '2026-01-15T09:30:00.000Z'],
    source: ['Id of the purchase or grant, or `catalogue` or `customer`.', 'store_a:2000000123456789'],
    what: ['The fact in words.', 'Access is paid until then.'],
    effect: ['Whether it gives access now, prevents it, or neither.', 'gives'],
  }),
  describeObject('AccessExplanation', explainAccess.response, 'Why a customer has access, or not.', {
    applicationUsername,
    entitlement: ['The entitlement in question.', 'premium'],
    productId: ['The product in question.', 'store_a:premium_monthly'],
    isActive: ['Whether the customer has access now.', true],
    because: ['The facts by date. States and settings without a date are at the end.'],
    next: ['What will change next if nothing else happens. Null if nothing will.'],
    asOf,
  }),
  describeObject('NextChange', NextChange, 'What will change next, if nothing else happens.', {
    at: ['Date of the change.', '2026-02-15T09:30:00.000Z'],
    what: ['The change in words.', 'The store renews the subscription.'],
  }),
  describeObject('TokenKey', TokenKey, 'A public key of entitlement tokens, in the format JSON Web Key.', {
    kty: ['The constant EC.', 'EC'],
    crv: ['The constant P-256.', 'P-256'],
    x: ['X coordinate in base64url.', 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4'],
    y: ['Y coordinate in base64url.', '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM'],
    kid: ['Id of the key, which tokens name.', 'MKBCTNIcKUSD'],
    use: ['The constant sig.', 'sig'],
    alg: ['The constant ES256.', 'ES256'],
  }),
  describeObject('TokenKeys', getTokenKeys.response, 'A JSON Web Key Set.', {
    keys: ['The key that signs, the next one, and replaced ones until their tokens have expired.'],
  }),
];

export const entitlementOperations = [
  describeOperation(getCustomerEntitlements, {
    description:
      'Returns all entitlements that the customer has or ever had, over all stores and grants. They follow from the catalogue at the time of the request. With the public key, the access token of a paid checkout of this customer is required.',
    params,
    query: { accessToken },
  }),
  describeOperation(createEntitlementToken, {
    description:
      'Signs the active entitlements of the customer, so that a device or an edge server can check them without a request. The token expires after the validity of the app, and never after the last end of access. It cannot be revoked: a refund takes effect when it expires.',
    params,
    query: { accessToken },
  }),
  describeOperation(explainAccess, {
    description:
      'Explains from the stored facts whether the customer has access: claims, the strategy, store messages, refunds, grants and the sandbox rule. Requires either `entitlement` or `productId`.',
    params,
    query: {
      entitlement: ['Name of the entitlement.', 'premium'],
      productId: ['Product id, with or without platform prefix.', 'store_a:premium_monthly'],
    },
  }),
  describeOperation(listGrants, { description: 'Lists all grants of the customer.', params }),
  describeOperation(createGrant, {
    description:
      'Gives the customer an entitlement. Responds with 201, or with 200 for the same `idempotencyKey` again. Your server receives a webhook, and another one at the end. A grant is no purchase: it appears neither in `purchases` nor in statistics. A support key is allowed.',
    params,
  }),
  describeOperation(changeGrant, {
    description: 'Moves the end of a grant that has not ended. A support key is allowed.',
    params: { ...params, grantId },
  }),
  describeOperation(revokeGrant, {
    description: 'Ends a grant now. A grant that has ended stays as it is. A support key is allowed.',
    params: { ...params, grantId },
  }),
  describeOperation(getTokenKeys, {
    description: 'Returns the public keys of entitlement tokens of all apps. Cache them for at most 5 minutes.',
    query: { appName: ['Selects the keys of one app.', 'demo'] },
  }),
];
