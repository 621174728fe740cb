import * as v from 'valibot';
import { defineContract } from '../api/contract.ts';
import {
  type ApiPart,
  applicationUsername,
  describeObject,
  describeOperation,
  describeValue,
} from '../api/describe.ts';
import { DateOrDateTime } from '../api/paging.ts';
import {
  DateTime,
  EntitlementName,
  emptyAsAbsent,
  GrantingKey,
  Id,
  nullableOptional,
  PlatformToken,
  Username,
} from '../api/schemas.ts';

/*
 * Named entitlements are an addition to the specification. An app without entitlements in its catalogue sees none of
 * it.
 */

const params = v.object({ applicationUsername: Username });

/** Token of a checkout, with which the app reads the entitlements of the customer who paid. */
const accessToken = emptyAsAbsent(v.string());

const PurchaseSource = v.strictObject({
  type: v.literal('purchase'),
  purchaseId: v.string(),
  platform: PlatformToken,
  productId: v.string(),
});
const GrantSource = v.strictObject({ type: v.literal('grant'), grantId: v.string() });

/** What gives an entitlement. */
const EntitlementSource = v.variant('type', [PurchaseSource, GrantSource]);

/** An entitlement of a customer, by its best source. */
export const EntitlementRecord = v.strictObject({
  isActive: v.boolean(),
  since: v.nullable(DateTime),
  /** Null without an end, or, if it is not active, without a known end. */
  until: v.nullable(DateTime),
  willRenew: v.boolean(),
  isSandbox: v.boolean(),
  isInGracePeriod: v.boolean(),
  source: EntitlementSource,
});
export type EntitlementRecord = v.InferOutput<typeof EntitlementRecord>;

/** Entitlements by name. */
export const EntitlementRecords = v.record(v.string(), EntitlementRecord);

const common = { area: 'entitlements', errorFormat: 'default', aliases: [], params } as const;

const CustomerEntitlements = v.strictObject({
  applicationUsername: v.string(),
  entitlements: EntitlementRecords,
  asOf: DateTime,
});

export const getCustomerEntitlements = defineContract({
  ...common,
  id: 'get-customer-entitlements',
  summary: "Get a customer's entitlements over all stores",
  method: 'GET',
  path: '/v3/customers/:applicationUsername/entitlements',
  keyLevel: 'public',
  eventType: 'entitlement.read',
  query: v.object({ accessToken }),
  response: CustomerEntitlements,
  // A request with an access token records the purchases of its checkout.
  writingParameter: 'accessToken',
  permissions: ['write', 'stores'],
  writes: ['purchases'],
});

const EntitlementTokenBody = v.object({
  nonce: nullableOptional(v.pipe(v.string(), v.maxLength(200))),
  accessToken: nullableOptional(v.string()),
});

const EntitlementToken = v.strictObject({ token: v.string(), expiresAt: DateTime });

export const createEntitlementToken = defineContract({
  ...common,
  id: 'create-entitlement-token',
  summary: "Sign a customer's active entitlements, for checks without a request",
  method: 'POST',
  path: '/v3/customers/:applicationUsername/entitlements/token',
  keyLevel: 'public',
  additionalLevels: ['viewer', 'support'],
  eventType: 'entitlement.read',
  query: v.object({ accessToken }),
  body: EntitlementTokenBody,
  response: EntitlementToken,
  permissions: ['write', 'stores'],
  writes: ['purchases', 'tokenKeys'],
});

const Reason = v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(500));

/** Access that a customer has without a purchase. */
export const GrantRecord = v.strictObject({
  grantId: v.string(),
  entitlement: v.string(),
  isActive: v.boolean(),
  reason: v.string(),
  createdAt: DateTime,
  createdBy: GrantingKey,
  /** Null: until it is revoked. */
  until: v.nullable(DateTime),
  changedAt: v.exactOptional(DateTime),
  changedBy: v.exactOptional(GrantingKey),
  revokedAt: v.exactOptional(DateTime),
  revokedBy: v.exactOptional(GrantingKey),
  /** When the grant was moved to another customer. */
  movedAt: v.exactOptional(DateTime),
});
export type GrantRecord = v.InferOutput<typeof GrantRecord>;

const grantCommon = { ...common, keyLevel: 'secret', additionalLevels: ['support'] } as const;
const CustomerGrant = v.strictObject({
  applicationUsername: v.string(),
  ...GrantRecord.entries,
  /** Present if no product of the catalogue gives the entitlement, so its name can be wrong. */
  warning: v.exactOptional(v.string()),
});
const grantParams = v.object({ ...params.entries, grantId: Id });

const CustomerGrants = v.strictObject({ applicationUsername: v.string(), rows: v.array(GrantRecord) });

export const listGrants = defineContract({
  ...common,
  id: 'list-grants',
  summary: "List a customer's grants, ended ones included, oldest first",
  method: 'GET',
  path: '/v3/customers/:applicationUsername/grants',
  keyLevel: 'secret',
  eventType: 'grant.read',
  response: CustomerGrants,
  permissions: [],
});

const GrantBody = v.object({
  entitlement: EntitlementName,
  until: nullableOptional(DateOrDateTime),
  reason: Reason,
  idempotencyKey: nullableOptional(v.pipe(v.string(), v.maxLength(200))),
});

export const createGrant = defineContract({
  ...grantCommon,
  id: 'create-grant',
  summary: 'Give a customer an entitlement without a purchase',
  method: 'POST',
  path: '/v3/customers/:applicationUsername/grants',
  eventType: 'grant.created',
  body: GrantBody,
  response: CustomerGrant,
  successStatuses: [200, 201],
  permissions: ['write'],
  writes: ['customers'],
});

const GrantChange = v.object({ until: v.nullable(DateOrDateTime) });

export const changeGrant = defineContract({
  ...grantCommon,
  id: 'change-grant',
  summary: 'Move the end of a grant',
  method: 'PATCH',
  path: '/v3/customers/:applicationUsername/grants/:grantId',
  eventType: 'grant.changed',
  params: grantParams,
  body: GrantChange,
  response: CustomerGrant,
  permissions: ['write'],
  writes: ['customers'],
});

export const revokeGrant = defineContract({
  ...grantCommon,
  id: 'revoke-grant',
  summary: 'End a grant now',
  method: 'DELETE',
  path: '/v3/customers/:applicationUsername/grants/:grantId',
  eventType: 'grant.revoked',
  params: grantParams,
  response: CustomerGrant,
  permissions: ['write'],
  writes: ['customers'],
});

/** A fact that the access of a customer follows from. */
export const AccessFact = v.strictObject({
  at: v.nullable(DateTime),
  /** What the fact is about: a purchase id, a grant id, or the setting of the app. */
  source: v.string(),
  what: v.string(),
  effect: v.picklist(['gives', 'prevents', 'none']),
});
export type AccessFact = v.InferOutput<typeof AccessFact>;

/** What will change next, if nothing else happens. */
const NextChange = v.strictObject({ at: DateTime, what: v.string() });

const AccessExplanation = v.strictObject({
  applicationUsername: v.string(),
  entitlement: v.exactOptional(v.string()),
  productId: v.exactOptional(v.string()),
  isActive: v.boolean(),
  because: v.array(AccessFact),
  next: v.nullable(NextChange),
  asOf: DateTime,
});

export const explainAccess = defineContract({
  ...common,
  id: 'explain-access',
  summary: 'Explain why a customer has access, or not',
  method: 'GET',
  path: '/v3/customers/:applicationUsername/why',
  keyLevel: 'secret',
  eventType: 'entitlement.read',
  query: v.object({ entitlement: emptyAsAbsent(EntitlementName), productId: emptyAsAbsent(Id) }),
  response: AccessExplanation,
  // An erased name is stored as a digest with an encrypted key. The response is without secrets.
  additionalLevels: ['viewer', 'support'],
  permissions: ['indexes', 'userIndex', 'secrets'],
});

/** A public key of ES256. */
const TokenKey = v.strictObject({
  kty: v.literal('EC'),
  crv: v.literal('P-256'),
  x: v.string(),
  y: v.string(),
  kid: v.string(),
  use: v.literal('sig'),
  alg: v.literal('ES256'),
});

const TokenKeys = v.strictObject({ keys: v.array(TokenKey) });

export const getTokenKeys = defineContract({
  id: 'get-token-keys',
  area: 'entitlements',
  summary: 'Get the public keys of entitlement tokens as a JSON Web Key Set',
  method: 'GET',
  path: '/.well-known/jwks.json',
  aliases: [],
  keyLevel: 'none',
  errorFormat: 'default',
  eventType: 'service.read',
  query: v.object({ appName: emptyAsAbsent(Id) }),
  response: TokenKeys,
  permissions: ['indexes'],
});

const userText = { applicationUsername } as const;
const grantIdText = ['Id of the grant.', 'grant_5f0c8a1b9d3e4f60718293a4'] as const;
const accessTokenText = [
  "The customer's access token from a checkout that was paid. Required with the public key.",
  'ak_mB7GxQ2ZrT5VnK8wL4sYp1Hc6Ud3Ef9J',
] as const;
const asOf = ['Time of the response.', '2026-01-15T09:30:00.000Z'] as const;
const key = { id: '0f110b8bbde7', name: 'alice-support' } as const;

const grantFields = {
  grantId: grantIdText,
  entitlement: ['Name of the entitlement.', 'premium'],
  isActive: ['The grant gives access now.', true],
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

const descriptions = [
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
    isActive: ['The customer has access now.', true],
    since: ['Start of the purchase or grant. Null if the store does not report it.', '2026-01-15T09:30:00.000Z'],
    until: [
      'End of access. A subscription that renews keeps access for 24 hours (`unverifiedHours`) after the renewal date. Null without an end, or, if it is not active, without a known end.',
      '2026-02-16T09:30:00.000Z',
    ],
    willRenew: ['The store renews the purchase at the end.', true],
    isSandbox: ["Whether the purchase is of the store's sandbox.", false],
    isInGracePeriod: ['The payment of a renewal failed and access goes on for now.', false],
    source: ['The best source: an active one takes precedence, then the one that ends last.'],
  }),
  describeObject('CustomerEntitlements', CustomerEntitlements, 'The entitlements of a customer.', {
    applicationUsername,
    entitlements: ['All entitlements that the customer has or ever had, by name.'],
    asOf,
  }),
  describeObject('EntitlementTokenRequest', EntitlementTokenBody, 'What the token contains.', {
    nonce: ['Text that the token repeats, at most 200 characters.', 'n-0S6_WzA2Mj'],
    accessToken: accessTokenText,
  }),
  describeObject('EntitlementToken', EntitlementToken, 'A signed token.', {
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
  describeObject('CustomerGrant', CustomerGrant, 'A grant of a customer.', {
    applicationUsername,
    ...grantFields,
    warning: [
      'Present for a new grant of an entitlement that no product of the catalogue gives: its name can be wrong.',
      'No product of the catalogue gives this entitlement.',
    ],
  }),
  describeObject('CustomerGrants', CustomerGrants, 'The grants of a customer.', {
    applicationUsername,
    rows: ['The grants, oldest first. Ended and revoked ones included.'],
  }),
  describeObject('GrantRequest', GrantBody, 'The grant to make.', {
    entitlement: ['Name of the entitlement.', 'premium'],
    until: ['End of the grant. Absent: until it is revoked.', '2026-02-15T09:30:00.000Z'],
    reason: ['Why, at most 500 characters. Support reads it later.', 'Lost her purchase with the old phone'],
    idempotencyKey: ['A repeated request with the same key returns the first grant (200).', 'ticket-4711'],
  }),
  describeObject('GrantChange', GrantChange, 'The new end of the grant.', {
    until: ['End of the grant. Null: until it is revoked.', '2026-03-15T09:30:00.000Z'],
  }),
  describeObject('AccessFact', AccessFact, 'A fact that the access of a customer follows from.', {
    at: ['Date of the fact. Null for a state or a setting.', '2026-01-15T09:30:00.000Z'],
    source: ['Id of the purchase or grant, or `catalogue` or `customer`.', 'store_a:2000000123456789'],
    what: ['The fact in words.', 'Access is paid until then.'],
    effect: ['Whether it gives access now, prevents it, or neither.', 'gives'],
  }),
  describeObject('AccessExplanation', AccessExplanation, 'Why a customer has access, or not.', {
    applicationUsername,
    entitlement: ['The entitlement in question.', 'premium'],
    productId: ['The product in question.', 'store_a:premium_monthly'],
    isActive: ['The customer has access now.', true],
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
  describeObject('TokenKeys', TokenKeys, 'A JSON Web Key Set.', {
    keys: ['The key that signs, the next one, and replaced ones until their tokens have expired.'],
  }),
];

const operations = [
  describeOperation(getCustomerEntitlements, {
    description:
      'Returns all entitlements that the customer has or ever had, over all stores and grants. They follow from the catalogue at the time of the request. With the public key, the access token of a paid checkout of this customer is required.',
    params: userText,
    query: { accessToken: accessTokenText },
  }),
  describeOperation(createEntitlementToken, {
    description:
      'Signs the active entitlements of the customer, so that a device or an edge server can check them without a request. The token expires after the validity of the app, and never after the last end of access. It cannot be revoked: a refund takes effect when it expires. If the catalogue gives credits, the token has their balances.',
    params: userText,
    query: { accessToken: accessTokenText },
  }),
  describeOperation(explainAccess, {
    description:
      'Explains from the stored facts whether the customer has access: claims, the strategy, store messages, refunds, grants and the sandbox rule. Requires either `entitlement` or `productId`.',
    params: userText,
    query: {
      entitlement: ['Name of the entitlement.', 'premium'],
      productId: ['Product id, with or without platform prefix.', 'store_a:premium_monthly'],
    },
  }),
  describeOperation(listGrants, { description: 'Lists all grants of the customer.', params: userText }),
  describeOperation(createGrant, {
    description:
      'Gives the customer an entitlement. Responds with 201, or with 200 for the same `idempotencyKey` again. Your server receives a webhook, and another one at the end. A grant is no purchase: it appears neither in `purchases` nor in statistics. A support key is allowed.',
    params: userText,
    errors: {
      409: ['The `idempotencyKey` was used for a different grant.', 'The customer has the maximum number of grants.'],
    },
  }),
  describeOperation(changeGrant, {
    description: 'Moves the end of a grant that has not ended. A support key is allowed.',
    params: { ...userText, grantId: grantIdText },
    errors: { 404: ['The grant is not found.'], 409: ['The grant has ended. Create another one.'] },
  }),
  describeOperation(revokeGrant, {
    description: 'Ends a grant now. A grant that has ended stays as it is. A support key is allowed.',
    params: { ...userText, grantId: grantIdText },
    errors: { 404: ['The grant is not found.'] },
  }),
  describeOperation(getTokenKeys, {
    description: 'Returns the public keys of entitlement tokens of all apps. Cache them for at most 5 minutes.',
    query: { appName: ['Selects the keys of one app.', 'demo'] },
  }),
];

export const entitlementApi: ApiPart = { descriptions, operations };
