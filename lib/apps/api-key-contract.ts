import * as v from 'valibot';
import { defineContract } from '../api/contract.ts';
import { type ApiPart, describeObject, describeOperation } from '../api/describe.ts';
import { Id, OptionalDateTime } from '../api/schemas.ts';

const common = { area: 'app', aliases: [], keyLevel: 'secret', errorFormat: 'default' } as const;

/** The level of an API key: what it may call. */
const ApiKeyLevel = v.picklist(['public', 'secret', 'viewer', 'support']);

/** Name and level of an API key. */
export const RequestKey = v.strictObject({
  id: v.string(),
  name: v.string(),
  level: ApiKeyLevel,
});

/** An API key of the app. The key itself is not stored. */
const ListedApiKey = v.strictObject({
  id: v.string(),
  name: v.string(),
  level: ApiKeyLevel,
  createdAt: OptionalDateTime,
  expiresAt: OptionalDateTime,
});

const ApiKeyList = v.strictObject({ rows: v.array(ListedApiKey) });

// Spec: not shown. The command `key list`.
export const listKeys = defineContract({
  ...common,
  id: 'list-keys',
  summary: 'List the API keys of the app, without the keys themselves',
  method: 'GET',
  path: '/v3/app/keys',
  eventType: 'app.read',
  response: ApiKeyList,
  permissions: [],
});

const NewApiKey = v.object({
  level: ApiKeyLevel,
  name: v.string(),
  validDays: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(3_650))),
});

const CreatedApiKey = v.strictObject({ ok: v.literal(true), key: v.string(), ...ListedApiKey.entries });

// Spec: not shown. The command `key create`.
export const createKey = defineContract({
  ...common,
  id: 'create-key',
  summary: 'Create a named API key, which is returned once',
  method: 'POST',
  path: '/v3/app/keys',
  eventType: 'app.changed',
  body: NewApiKey,
  response: CreatedApiKey,
  permissions: ['write'],
});

const RevokedApiKey = v.strictObject({ ok: v.literal(true), revoked: ListedApiKey });

// Spec: not shown. The command `key revoke`.
export const revokeKey = defineContract({
  ...common,
  id: 'revoke-key',
  summary: 'Revoke an API key',
  method: 'DELETE',
  path: '/v3/app/keys/:keyId',
  eventType: 'app.changed',
  params: v.object({ keyId: Id }),
  response: RevokedApiKey,
  permissions: ['write', 'secrets'],
});
const ok = ['The constant true.', true] as const;
const apiKeyFields = {
  id: ['Id of the key: the beginning of its SHA-256.', '0f110b8bbde7'],
  name: ['Name of the key, which events contain.', 'alice-support'],
  level: ['What the key may call.', 'viewer'],
  createdAt: ['Date of its creation. Absent for keys of the first releases.', '2026-01-15T09:30:00.000Z'],
  expiresAt: ['Date at which it becomes invalid. Absent without an end.', '2026-04-15T09:30:00.000Z'],
} as const;

const descriptions = [
  describeObject('ApiKey', ListedApiKey, 'An API key of the app. The key itself is not stored.', apiKeyFields),
  describeObject('ApiKeyList', ApiKeyList, 'The API keys of the app.', {
    rows: ['All keys, expired ones included.'],
  }),
  describeObject('NewApiKey', NewApiKey, 'The API key to create.', {
    level: apiKeyFields.level,
    name: apiKeyFields.name,
    validDays: ['Days until it becomes invalid. Without it, it has no end.', 90],
  }),
  describeObject('CreatedApiKey', CreatedApiKey, 'A new API key.', {
    ok,
    key: ['The key. It is not returned again.', 'view_3q2-7wXKJm0c1Y5bT8fZ9aLrN6hPdQvE4sUoWiGxCyk'],
    ...apiKeyFields,
  }),
  describeObject('RevokedApiKey', RevokedApiKey, 'A revoked API key.', { ok, revoked: ['The revoked key.'] }),
  describeObject('RequestKey', RequestKey, 'The API key of a request. The key itself is never returned.', {
    id: ['Id of the key.', 'k_7d2f'],
    name: ['Name that the operator gave the key.', 'server'],
    level: ['Level of the key.', 'secret'],
  }),
];

const operations = [
  describeOperation(listKeys, { description: 'Lists the API keys of the app. A key itself is not stored.' }),
  describeOperation(createKey, {
    description: 'Creates a named API key. The key is in this response only.',
    errors: { 409: ['A key of the level has the name.', 'The level has the maximum number of keys.'] },
  }),
  describeOperation(revokeKey, {
    description: 'Revokes an API key. It is rejected within 15 seconds. The secret key that webhooks contain is kept.',
    params: { keyId: ['Id of the key, from `GET /v3/app/keys`.', '0f110b8bbde7'] },
    errors: { 404: ['No key has the id.'], 409: ['Webhooks contain the key as their password. Rotate it.'] },
  }),
];

export const apiKeyApi: ApiPart = { descriptions, operations };
