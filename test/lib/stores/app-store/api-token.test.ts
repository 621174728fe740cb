import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { importPrivateKey } from '../../../../lib/stores/app-store/api-token.ts';

const createPem = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

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
