import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createApiToken, importPrivateKey } from '../../../../lib/stores/app-store/api-token.ts';

const createPem = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

describe('createApiToken', () => {
  it('token is valid for Apple if the clock of the service is a minute ahead', async () => {
    const now = Date.parse('2027-01-01T12:00:00Z');
    const key = { issuerId: 'issuer', keyId: 'KEY1', privateKey: createPem() };
    const [, payload = ''] = (await createApiToken(key, 'com.example.app', now)).split('.');
    const { iat, exp } = JSON.parse(Buffer.from(payload, 'base64url').toString());
    expect(iat).toBe(now / 1000 - 60);
    expect(exp - iat).toBeLessThanOrEqual(3600);
    expect(exp).toBeGreaterThan(now / 1000 + 120);
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
