import { beforeAll, describe, expect, it } from '@jest/globals';
import { pushingGoogle, type SigningKey, signingKey } from './fake-pubsub.ts';

const refused = { code: 'Forbidden' };
const unreachable = { code: 'ConnectionFailed' };
let key: SigningKey;
let next: SigningKey;
beforeAll(async () => {
  [key, next] = await Promise.all([signingKey(), signingKey()]);
});

describe('the keys of Google', () => {
  it('are read once for many pushes', async () => {
    const { google, token, push } = pushingGoogle(key);
    for (let time = 0; time < 3; time++) await push(await token(key));
    expect(google.reads).toBe(1);
  });

  it('are read again when a key is new, but at most once a minute for keys that do not exist', async () => {
    const { google, token, push } = pushingGoogle(key);
    await push(await token(key));
    for (let time = 0; time < 3; time++) await expect(push(await token(next))).rejects.toMatchObject(refused);
    expect(google.reads).toBe(1);
    google.now += 60_000;
    for (let time = 0; time < 3; time++) await expect(push(await token(next))).rejects.toMatchObject(refused);
    expect(google.reads).toBe(2);
    google.keys = [next];
    google.now += 60_000;
    await expect(push(await token(next))).resolves.toHaveLength(1);
    expect(google.reads).toBe(3);
    await expect(push(await token(key))).rejects.toMatchObject(refused);
  });

  it('are read again when they have lived as long as Google said', async () => {
    const { google, token, push } = pushingGoogle(key);
    await push(await token(key));
    google.keys = [next];
    google.now += 19_999_000;
    await expect(push(await token(key))).resolves.toHaveLength(1);
    google.now += 1_000;
    await expect(push(await token(key))).rejects.toMatchObject(refused);
    expect(google.reads).toBe(2);
  });

  it('that cannot be reached make the push come again, not be lost', async () => {
    const { google, token, push } = pushingGoogle(key);
    google.isReachable = false;
    await expect(push(await token(key))).rejects.toMatchObject(unreachable);
    google.isReachable = true;
    await expect(push(await token(key))).resolves.toHaveLength(1);
  });

  it.each([
    ['an error', { status: 503 }],
    ['a page', { text: '<html>' }],
    ['other words', { text: '{"keys":{}}' }],
    ['keys without an id', { text: '{"keys":[{"kty":"RSA"}]}' }],
  ])('that are answered with %s make the push come again, not be lost', async (_what, response) => {
    const { google, token, push } = pushingGoogle(key);
    google.answer = response;
    await expect(push(await token(key))).rejects.toMatchObject(unreachable);
    google.answer = {};
    await expect(push(await token(key))).resolves.toHaveLength(1);
  });
});
