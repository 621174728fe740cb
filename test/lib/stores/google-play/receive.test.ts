import { beforeAll, describe, expect, it } from '@jest/globals';
import { UnsecuredJWT } from 'jose';
import {
  account,
  audience,
  buildEnvelope,
  buildPushBody,
  createPubSub,
  createSigningKey,
  packageName,
  pushSettings,
  type SigningKey,
} from './fake-pubsub.ts';

const forbidden = { code: 'Forbidden', status: 403 };
let key: SigningKey;
let foreignKey: SigningKey;
beforeAll(async () => {
  [key, foreignKey] = await Promise.all([createSigningKey(), createSigningKey()]);
});

describe('receive (Google Play)', () => {
  it('accepts a push with the account and audience of the settings', async () => {
    const { signToken, push } = createPubSub(key);
    await expect(push(await signToken(key))).resolves.toEqual([
      { key: 'message message-1', type: 'TEST', occurredAt: 1_795_262_400_000, payload: {} },
    ]);
  });

  it.each<[string, Record<string, unknown>]>([
    ["Google's second issuer", { iss: 'accounts.google.com' }],
    ['the audience in upper case', { aud: audience.toUpperCase() }],
    ['several audiences', { aud: ['https://example.com', audience] }],
    ['the account in upper case', { email: account.toUpperCase() }],
  ])('accepts a token with %s', async (_case, claims) => {
    const { signToken, push } = createPubSub(key);
    await expect(push(await signToken(key, claims))).resolves.toHaveLength(1);
  });

  it.each<[string, Record<string, unknown>]>([
    ['another audience', { aud: 'https://example.com/hook' }],
    ['no audience', { aud: undefined }],
    ['another service account', { email: 'pubsub-push@evil.iam.gserviceaccount.com' }],
    ['no account', { email: undefined }],
    ['an account that is not verified', { email_verified: false }],
    ['email_verified as text', { email_verified: 'true' }],
    ['no email_verified', { email_verified: undefined }],
    ['another issuer', { iss: 'https://accounts.example.com' }],
    ['no issuer', { iss: undefined }],
    ['no expiration', { exp: undefined }],
  ])('rejects a token with %s', async (_case, claims) => {
    const { signToken, push } = createPubSub(key);
    await expect(push(await signToken(key, claims))).rejects.toMatchObject(forbidden);
  });

  it('accepts a token until a minute after its expiration', async () => {
    const { google, signToken, push } = createPubSub(key);
    const bearer = await signToken(key);
    google.now += 3_659_000;
    await expect(push(bearer)).resolves.toHaveLength(1);
    google.now += 2_000;
    await expect(push(bearer)).rejects.toMatchObject(forbidden);
  });

  it("rejects a token with a foreign signature, also under the id of Google's key", async () => {
    const { signToken, push } = createPubSub(key);
    await expect(push(await signToken({ ...foreignKey, kid: key.kid }))).rejects.toMatchObject(forbidden);
    await expect(push(await signToken(foreignKey))).rejects.toMatchObject(forbidden);
  });

  it('rejects a token that was changed after it was signed', async () => {
    const { signToken, push } = createPubSub(key);
    const [header, , signature] = (await signToken(key, { email: 'person@example.com' })).split('.');
    const [, payload] = (await signToken(key)).split('.');
    await expect(push(`${header}.${payload}.${signature}`)).rejects.toMatchObject(forbidden);
  });

  it('rejects an unsigned token', async () => {
    const { google, getSeconds, push } = createPubSub(key);
    const claims = { iss: 'https://accounts.google.com', aud: audience, email: account, email_verified: true };
    const [, payload] = new UnsecuredJWT({ ...claims, exp: getSeconds() + 3600 }).encode().split('.');
    const header = Buffer.from(JSON.stringify({ alg: 'none', kid: key.kid })).toString('base64url');
    await expect(push(`${header}.${payload}.`)).rejects.toMatchObject(forbidden);
    expect(google.reads).toBe(0);
  });

  it.each([undefined, '', 'no-token', 'a.b.c'])('rejects the token %j without fetching the keys', async (bearer) => {
    const { google, push } = createPubSub(key);
    await expect(push(bearer)).rejects.toMatchObject(forbidden);
    expect(google.reads).toBe(0);
  });

  it.each([
    ['no audience', { packageName, pushServiceAccount: account }],
    ['no account', { packageName, pushAudience: audience }],
  ])('rejects a push if the settings have %s', async (_case, settings) => {
    const { signToken, push } = createPubSub(key);
    await expect(push(await signToken(key), { settings })).rejects.toMatchObject(forbidden);
  });

  it('accepts and ignores a push about another package, whose topic the apps share', async () => {
    const { signToken, push } = createPubSub(key);
    const body = buildPushBody({ packageName: 'com.example.other' });
    await expect(push(await signToken(key), { body })).resolves.toEqual([]);
    await expect(push(await signToken(foreignKey), { body })).rejects.toMatchObject(forbidden);
  });

  it.each([
    ['no JSON', '<html>'],
    ['no message', '{}'],
    ['no data', JSON.stringify({ message: { messageId: '1' } })],
    ['data that is not base64', buildEnvelope('!!!')],
    ['data that is not JSON', buildEnvelope(Buffer.from('hello').toString('base64'))],
    ['data without a package', buildEnvelope(Buffer.from('{}').toString('base64'))],
    ['no time', buildPushBody({ eventTimeMillis: undefined })],
    ['no purchase token', buildPushBody({ subscriptionNotification: { notificationType: 4 } })],
    [
      'an invalid purchase token',
      buildPushBody({ voidedPurchaseNotification: { purchaseToken: '..', orderId: 'GPA.1' } }),
    ],
  ])('throws InvalidPayload for %s', async (_case, body) => {
    const { signToken, push } = createPubSub(key);
    await expect(push(await signToken(key), { body })).rejects.toMatchObject({ code: 'InvalidPayload' });
  });

  it.each([
    [
      'a product without sku',
      { oneTimeProductNotification: { notificationType: 1, purchaseToken: 'token-1', sku: null } },
    ],
    [
      'members of other types',
      { voidedPurchaseNotification: { purchaseToken: 'token-1', orderId: 'GPA.1', productType: '1', refundType: '2' } },
    ],
    ['a type of another type', { subscriptionNotification: { notificationType: '4', purchaseToken: 'token-1' } }],
    [
      'null instead of the other notifications',
      {
        subscriptionNotification: null,
        testNotification: null,
        oneTimeProductNotification: { notificationType: 1, purchaseToken: 'token-1' },
      },
    ],
  ])('needs only the token: accepts %s', async (_case, changes) => {
    const { signToken, push } = createPubSub(key);
    const body = buildPushBody({ testNotification: undefined, ...changes });
    await expect(push(await signToken(key), { body })).resolves.toMatchObject([{ payload: { token: 'token-1' } }]);
  });

  it('accepts a push with payload unwrapping', async () => {
    const { signToken, push } = createPubSub(key);
    const subscriptionNotification = { notificationType: 2, purchaseToken: 'token-1' };
    const { message } = JSON.parse(buildPushBody({ testNotification: undefined, subscriptionNotification }));
    const body = Buffer.from(message.data, 'base64').toString('utf8');
    const [wrapped] = await push(await signToken(key), { body: JSON.stringify({ message }) });
    await expect(push(await signToken(key), { body })).resolves.toEqual([wrapped]);
  });

  it('derives the same key for a republished event and different keys for different events', async () => {
    const { signToken, push } = createPubSub(key);
    const bearer = await signToken(key);
    const getKey = async (messageId: string, notificationType = 2) => {
      const body = buildPushBody(
        { subscriptionNotification: { notificationType, purchaseToken: 'token-1' } },
        messageId,
      );
      return (await push(bearer, { body }))[0]?.key;
    };
    expect(await getKey('message-2')).toBe(await getKey('message-1'));
    expect(await getKey('message-1', 3)).not.toBe(await getKey('message-1'));
  });

  it('rejects a push with a service account that differs from the settings', async () => {
    const { signToken, push } = createPubSub(key);
    const settings = { ...pushSettings, pushServiceAccount: 'another@example.iam.gserviceaccount.com' };
    await expect(push(await signToken(key), { settings })).rejects.toMatchObject(forbidden);
  });
});
