import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { getApiToken, importPrivateKey } from '../../../../lib/stores/app-store/api-token.ts';

const createPem = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

const now = Date.parse('2027-01-01T12:00:00Z');
const createKey = () => ({ issuerId: 'issuer', keyId: 'KEY1', privateKey: createPem() });

const readTimes = (token: string): { readonly iat: number; readonly exp: number } =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

describe('getApiToken', () => {
  it('returns a token that is valid for Apple if the clock of the service is a minute ahead', async () => {
    const { iat, exp } = readTimes(await getApiToken(createKey(), 'com.example.app', now));
    expect(iat).toBe(now / 1000 - 60);
    expect(exp - iat).toBeLessThanOrEqual(3600);
    expect(exp).toBeGreaterThan(now / 1000 + 120);
  });

  it('returns a token again while it is valid for a minute more', async () => {
    const key = createKey();
    const get = async (seconds: number) => await getApiToken(key, 'com.example.app', now + seconds * 1000);
    const first = await get(0);
    expect(await get(239)).toBe(first);
    expect(readTimes(first).exp).toBeGreaterThanOrEqual(now / 1000 + 239 + 60);
    expect(readTimes(await get(240)).iat).toBe(now / 1000 + 240 - 60);
  });

  it('signs another token after the clock was set back', async () => {
    const key = createKey();
    await getApiToken(key, 'com.example.app', now);
    expect(readTimes(await getApiToken(key, 'com.example.app', now - 3_600_000)).iat).toBe(now / 1000 - 3600 - 60);
  });

  it('signs a token for each issuer, key and bundle id', async () => {
    const key = createKey();
    const tokens = await Promise.all([
      getApiToken(key, 'com.example.app', now),
      getApiToken(key, 'com.example.other', now),
      getApiToken({ ...key, issuerId: 'other' }, 'com.example.app', now),
      getApiToken({ ...key, keyId: 'KEY2' }, 'com.example.app', now),
      getApiToken({ ...key, privateKey: createPem() }, 'com.example.app', now),
    ]);
    expect(new Set(tokens).size).toBe(5);
  });
});

describe('importPrivateKey', () => {
  it('imports a key once', async () => {
    const pem = createPem();
    expect(await importPrivateKey(pem)).toBe(await importPrivateKey(pem));
  });

  it('imports each file separately', async () => {
    expect(await importPrivateKey(createPem())).not.toBe(await importPrivateKey(createPem()));
  });

  it('rejects an unusable key each time', async () => {
    for (let time = 0; time < 2; time++)
      await expect(importPrivateKey('not a key')).rejects.toThrow('privateKey is not valid');
  });
});
