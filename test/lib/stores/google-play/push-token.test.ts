import { beforeAll, describe, expect, it } from '@jest/globals';
import { createPubSub, createSigningKey, type SigningKey } from './fake-pubsub.ts';

const forbidden = { code: 'Forbidden' };
const unavailable = { code: 'ConnectionFailed' };
let key: SigningKey;
let nextKey: SigningKey;
beforeAll(async () => {
  [key, nextKey] = await Promise.all([createSigningKey(), createSigningKey()]);
});

describe('findGoogleKey (Google Play)', () => {
  it('fetches the keys once for several pushes', async () => {
    const { google, signToken, push } = createPubSub(key);
    for (let count = 0; count < 3; count++) await push(await signToken(key));
    expect(google.reads).toBe(1);
  });

  it('fetches the keys again for an unknown key, at most once a minute', async () => {
    const { google, signToken, push } = createPubSub(key);
    await push(await signToken(key));
    for (let count = 0; count < 3; count++)
      await expect(push(await signToken(nextKey))).rejects.toMatchObject(forbidden);
    expect(google.reads).toBe(1);
    google.now += 60_000;
    for (let count = 0; count < 3; count++)
      await expect(push(await signToken(nextKey))).rejects.toMatchObject(forbidden);
    expect(google.reads).toBe(2);
    google.keys = [nextKey];
    google.now += 60_000;
    await expect(push(await signToken(nextKey))).resolves.toHaveLength(1);
    expect(google.reads).toBe(3);
    await expect(push(await signToken(key))).rejects.toMatchObject(forbidden);
  });

  it('fetches the keys again after the max-age of the response', async () => {
    const { google, signToken, push } = createPubSub(key);
    await push(await signToken(key));
    google.keys = [nextKey];
    google.now += 19_999_000;
    await expect(push(await signToken(key))).resolves.toHaveLength(1);
    google.now += 1_000;
    await expect(push(await signToken(key))).rejects.toMatchObject(forbidden);
    expect(google.reads).toBe(2);
  });

  it('throws ConnectionFailed if Google is unavailable, so that Pub/Sub retries the push', async () => {
    const { google, signToken, push } = createPubSub(key);
    google.isReachable = false;
    await expect(push(await signToken(key))).rejects.toMatchObject(unavailable);
    google.isReachable = true;
    await expect(push(await signToken(key))).resolves.toHaveLength(1);
  });

  it.each([
    ['an error', { status: 503 }],
    ['an HTML page', { text: '<html>' }],
    ['another format', { text: '{"keys":{}}' }],
    ['keys without an id', { text: '{"keys":[{"kty":"RSA"}]}' }],
  ])('throws ConnectionFailed for %s, so that Pub/Sub retries the push', async (_case, responseChanges) => {
    const { google, signToken, push } = createPubSub(key);
    google.responseChanges = responseChanges;
    await expect(push(await signToken(key))).rejects.toMatchObject(unavailable);
    google.responseChanges = {};
    await expect(push(await signToken(key))).resolves.toHaveLength(1);
  });
});
