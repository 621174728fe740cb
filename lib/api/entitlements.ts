import * as v from 'valibot';
import { defineContract } from './contract.ts';
import { EntitlementName, Id, Username } from './identifiers.ts';
import { DateOrDateTime } from './paging.ts';
import { PlatformToken } from './purchase-records.ts';
import { DateTime, emptyAsAbsent, nullableOptional } from './schemas.ts';

/*
 * Named entitlements are an addition to the specification. An app without entitlements in its catalogue sees none of
 * it.
 */

const params = v.object({ applicationUsername: Username });

/** Token of a checkout, with which the app reads the entitlements of the customer who paid. */
const accessToken = emptyAsAbsent(v.string());

export const PurchaseSource = v.strictObject({
  type: v.literal('purchase'),
  purchaseId: v.string(),
  platform: PlatformToken,
  productId: v.string(),
});
export const GrantSource = v.strictObject({ type: v.literal('grant'), grantId: v.string() });

/** What gives an entitlement. */
export const EntitlementSource = v.variant('type', [PurchaseSource, GrantSource]);

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

export const getCustomerEntitlements = defineContract({
  ...common,
  id: 'get-customer-entitlements',
  summary: "Get a customer's entitlements over all stores",
  method: 'GET',
  path: '/v3/customers/:applicationUsername/entitlements',
  keyLevel: 'public',
  eventType: 'entitlement.read',
  query: v.object({ accessToken }),
  response: v.strictObject({ applicationUsername: v.string(), entitlements: EntitlementRecords, asOf: DateTime }),
  // A request with an access token records the purchases of its checkout.
  writingParameter: 'accessToken',
  permissions: ['write', 'stores'],
});

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
  body: v.object({
    nonce: nullableOptional(v.pipe(v.string(), v.maxLength(200))),
    accessToken: nullableOptional(v.string()),
  }),
  response: v.strictObject({ token: v.string(), expiresAt: DateTime }),
  permissions: ['write', 'stores'],
});

const Reason = v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(500));

/** The API key that made or changed a grant. */
export const GrantingKey = v.strictObject({ id: v.string(), name: v.string() });

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
const grantResponse = v.strictObject({
  applicationUsername: v.string(),
  ...GrantRecord.entries,
  /** Present if no product of the catalogue gives the entitlement, so its name can be wrong. */
  warning: v.exactOptional(v.string()),
});
const grantParams = v.object({ ...params.entries, grantId: Id });

export const listGrants = defineContract({
  ...common,
  id: 'list-grants',
  summary: "List a customer's grants, ended ones included, oldest first",
  method: 'GET',
  path: '/v3/customers/:applicationUsername/grants',
  keyLevel: 'secret',
  eventType: 'grant.read',
  response: v.strictObject({ applicationUsername: v.string(), rows: v.array(GrantRecord) }),
  permissions: [],
});

export const createGrant = defineContract({
  ...grantCommon,
  id: 'create-grant',
  summary: 'Give a customer an entitlement without a purchase',
  method: 'POST',
  path: '/v3/customers/:applicationUsername/grants',
  eventType: 'grant.created',
  body: v.object({
    entitlement: EntitlementName,
    until: nullableOptional(DateOrDateTime),
    reason: Reason,
    idempotencyKey: nullableOptional(v.pipe(v.string(), v.maxLength(200))),
  }),
  response: grantResponse,
  successStatuses: [200, 201],
  permissions: ['write'],
});

export const changeGrant = defineContract({
  ...grantCommon,
  id: 'change-grant',
  summary: 'Move the end of a grant',
  method: 'PATCH',
  path: '/v3/customers/:applicationUsername/grants/:grantId',
  eventType: 'grant.changed',
  params: grantParams,
  body: v.object({ until: v.nullable(DateOrDateTime) }),
  response: grantResponse,
  permissions: ['write'],
});

export const revokeGrant = defineContract({
  ...grantCommon,
  id: 'revoke-grant',
  summary: 'End a grant now',
  method: 'DELETE',
  path: '/v3/customers/:applicationUsername/grants/:grantId',
  eventType: 'grant.revoked',
  params: grantParams,
  response: grantResponse,
  permissions: ['write'],
});

/** A fact that the access of a customer follows from. */
export const AccessFact = v.strictObject({
  at: v.nullable(DateTime),
  /** What the fact is about: a purchase id, a grant id, or the setting of the app. */
  source: v.string(),
  what: v.string(),
  /** Whether the fact gives access now, prevents it, or neither. */
  effect: v.picklist(['gives', 'prevents', 'none']),
});
export type AccessFact = v.InferOutput<typeof AccessFact>;

/** What will change next, if nothing else happens. */
export const NextChange = v.strictObject({ at: DateTime, what: v.string() });

export const explainAccess = defineContract({
  ...common,
  id: 'explain-access',
  summary: 'Explain why a customer has access to an entitlement or a product, or not',
  method: 'GET',
  path: '/v3/customers/:applicationUsername/why',
  keyLevel: 'secret',
  eventType: 'entitlement.read',
  query: v.object({ entitlement: emptyAsAbsent(EntitlementName), productId: emptyAsAbsent(Id) }),
  response: v.strictObject({
    applicationUsername: v.string(),
    entitlement: v.exactOptional(v.string()),
    productId: v.exactOptional(v.string()),
    isActive: v.boolean(),
    because: v.array(AccessFact),
    next: v.nullable(NextChange),
    asOf: DateTime,
  }),
  // Whether a name was erased is stored as a digest with an encrypted key. The response has no secret.
  additionalLevels: ['viewer', 'support'],
  permissions: ['userIndex', 'secrets'],
});

/** A public key of ES256. */
export const TokenKey = v.strictObject({
  kty: v.literal('EC'),
  crv: v.literal('P-256'),
  x: v.string(),
  y: v.string(),
  kid: v.string(),
  use: v.literal('sig'),
  alg: v.literal('ES256'),
});

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
  response: v.strictObject({ keys: v.array(TokenKey) }),
  permissions: ['indexes'],
});
