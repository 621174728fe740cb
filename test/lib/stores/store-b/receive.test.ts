import { beforeAll, describe, expect, it } from '@jest/globals';
import { UnsecuredJWT } from 'jose';
import {
  account,
  audience,
  envelope,
  packageName,
  pushBody,
  pushingGoogle,
  pushSettings,
  type SigningKey,
  signingKey,
} from './fake-pubsub.ts';

const refused = { code: 'Forbidden', status: 403 };
let key: SigningKey;
let other: SigningKey;
beforeAll(async () => {
  [key, other] = await Promise.all([signingKey(), signingKey()]);
});

describe('a push of store_b', () => {
  it('of the account and for the audience of the settings is received', async () => {
    const { token, push } = pushingGoogle(key);
    await expect(push(await token(key))).resolves.toEqual([
      { key: 'message message-1', type: 'TEST', at: 1_795_262_400_000, content: {} },
    ]);
  });

  it.each<[string, Record<string, unknown>]>([
    ["the other name of Google's", { iss: 'accounts.google.com' }],
    ['another spelling of the audience', { aud: audience.toUpperCase() }],
    ['the audience among others', { aud: ['https://example.com', audience] }],
    ['another spelling of the account', { email: account.toUpperCase() }],
  ])('is received with %s', async (_what, claims) => {
    const { token, push } = pushingGoogle(key);
    await expect(push(await token(key, claims))).resolves.toHaveLength(1);
  });

  it.each<[string, Record<string, unknown>]>([
    ['another audience', { aud: 'https://example.com/hook' }],
    ['no audience', { aud: undefined }],
    ['another service account', { email: 'pubsub-push@evil.iam.gserviceaccount.com' }],
    ['no account', { email: undefined }],
    ['an account that is not verified', { email_verified: false }],
    ['an account that is verified in words', { email_verified: 'true' }],
    ['an account of which nothing is said', { email_verified: undefined }],
    ['another issuer', { iss: 'https://accounts.example.com' }],
    ['no issuer', { iss: undefined }],
    ['no end', { exp: undefined }],
  ])('is refused with %s', async (_what, claims) => {
    const { token, push } = pushingGoogle(key);
    await expect(push(await token(key, claims))).rejects.toMatchObject(refused);
  });

  it('is received until a minute after its token has expired', async () => {
    const { google, token, push } = pushingGoogle(key);
    const bearer = await token(key);
    google.now += 3_659_000;
    await expect(push(bearer)).resolves.toHaveLength(1);
    google.now += 2_000;
    await expect(push(bearer)).rejects.toMatchObject(refused);
  });

  it("is refused when somebody else signed it, under an id of Google's or of their own", async () => {
    const { token, push } = pushingGoogle(key);
    await expect(push(await token({ ...other, kid: key.kid }))).rejects.toMatchObject(refused);
    await expect(push(await token(other))).rejects.toMatchObject(refused);
  });

  it('is refused with a content that was changed after it was signed', async () => {
    const { token, push } = pushingGoogle(key);
    const [header, , signature] = (await token(key, { email: 'somebody@example.com' })).split('.');
    const [, payload] = (await token(key)).split('.');
    await expect(push(`${header}.${payload}.${signature}`)).rejects.toMatchObject(refused);
  });

  it('is refused without a signature', async () => {
    const { google, seconds, push } = pushingGoogle(key);
    const claims = { iss: 'https://accounts.google.com', aud: audience, email: account, email_verified: true };
    const [, payload] = new UnsecuredJWT({ ...claims, exp: seconds() + 3600 }).encode().split('.');
    const header = Buffer.from(JSON.stringify({ alg: 'none', kid: key.kid })).toString('base64url');
    await expect(push(`${header}.${payload}.`)).rejects.toMatchObject(refused);
    expect(google.reads).toBe(0);
  });

  it.each([undefined, '', 'no-token', 'a.b.c'])(
    'is refused with %j for a token, and Google is not asked',
    async (bearer) => {
      const { google, push } = pushingGoogle(key);
      await expect(push(bearer)).rejects.toMatchObject(refused);
      expect(google.reads).toBe(0);
    },
  );

  it.each([
    ['no audience', { packageName, pushServiceAccount: account }],
    ['no account', { packageName, pushAudience: audience }],
  ])('is refused by an application with %s', async (_what, settings) => {
    const { token, push } = pushingGoogle(key);
    await expect(push(await token(key), { settings })).rejects.toMatchObject(refused);
  });

  it('about another package is refused', async () => {
    const { token, push } = pushingGoogle(key);
    const body = pushBody({ packageName: 'com.example.other' });
    await expect(push(await token(key), { body })).rejects.toMatchObject(refused);
  });

  it.each([
    ['no JSON', '<html>'],
    ['no message', '{}'],
    ['no data', JSON.stringify({ message: { messageId: '1' } })],
    ['data that are no base64', envelope('!!!')],
    ['data that are no JSON', envelope(Buffer.from('hello').toString('base64'))],
    ['data of no package', envelope(Buffer.from('{}').toString('base64'))],
    ['no time', pushBody({ eventTimeMillis: undefined })],
    ['no number', pushBody({ subscriptionNotification: { purchaseToken: 'token-1' } })],
    ['no purchase token', pushBody({ subscriptionNotification: { notificationType: 4 } })],
    ['a token that is none', pushBody({ voidedPurchaseNotification: { purchaseToken: '..', orderId: 'GPA.1' } })],
  ])('with %s can never be understood', async (_what, body) => {
    const { token, push } = pushingGoogle(key);
    await expect(push(await token(key), { body })).rejects.toMatchObject({ code: 'InvalidPayload' });
  });

  it('is taken for the same when the event is published again, and for another when another event is', async () => {
    const { token, push } = pushingGoogle(key);
    const bearer = await token(key);
    const keyOf = async (messageId: string, notificationType = 2) => {
      const body = pushBody({ subscriptionNotification: { notificationType, purchaseToken: 'token-1' } }, messageId);
      return (await push(bearer, { body }))[0]?.key;
    };
    expect(await keyOf('message-2')).toBe(await keyOf('message-1'));
    expect(await keyOf('message-1', 3)).not.toBe(await keyOf('message-1'));
  });

  it('is verified with the settings of its own application', async () => {
    const { token, push } = pushingGoogle(key);
    const settings = { ...pushSettings, pushServiceAccount: 'another@example.iam.gserviceaccount.com' };
    await expect(push(await token(key), { settings })).rejects.toMatchObject(refused);
  });
});
