import { describe, expect, it } from '@jest/globals';
import { checkSettings } from '../../../../lib/stores/app-store/check-settings.ts';
import type { StoreFetch } from '../../../../lib/stores/store-context.ts';
import { bundleId } from '../../../../testing/apple-payloads.ts';
import { apiSettings, createContext, failFetch, jsonResponse, textResponse } from '../../../../testing/fake-apple.ts';
import { createRsaKeyPair } from '../../../../testing/run-keys.ts';

/** Returns the result, or the code of the error. */
const check = async (settings: unknown, fetch: StoreFetch = failFetch, callStore = true) =>
  await checkSettings(createContext({ settings, fetch }), { callStore }).catch(({ code }) => code);

const acceptKey: StoreFetch = async () => jsonResponse(404, { errorCode: 4040010 });
const rejectKey: StoreFetch = async () => textResponse(401, 'Unauthenticated');
const acceptInSandbox: StoreFetch = async (url) => (url.includes('sandbox') ? acceptKey(url) : rejectKey(url));
const { privateKey: rsaKey } = createRsaKeyPair();

describe('checkSettings (App Store)', () => {
  it('accepts a key that production or the sandbox accepts', async () => {
    expect(await check(apiSettings, acceptKey)).toBe('The App Store accepted the API key.');
    expect(await check(apiSettings, acceptInSandbox)).toContain('in the sandbox');
  });

  it('throws InternalError if both environments reject the key', async () => {
    expect(await check(apiSettings, rejectKey)).toBe('InternalError');
  });

  it('throws ConnectionFailed if the App Store is unavailable, unless callStore is false', async () => {
    expect(await check(apiSettings)).toBe('ConnectionFailed');
    expect(await check(apiSettings, failFetch, false)).toBe('The format is valid.');
  });

  it('accepts settings without an API key', async () => {
    expect(await check({ bundleId })).toContain('signatures only');
    expect(await check({ bundleId, sharedSecret: 'secret' })).toContain('shared secret');
  });

  it.each([
    ['missing settings', undefined],
    ['a missing bundleId', { sharedSecret: 'secret' }],
    ['an incomplete API key', { bundleId, keyId: 'KEY1' }],
    ['an appAppleId that is not a number', { bundleId, appAppleId: '5' }],
    ['a privateKey that is not PEM', { ...apiSettings, privateKey: 'secret' }],
    ['an RSA privateKey', { ...apiSettings, privateKey: rsaKey.export({ type: 'pkcs8', format: 'pem' }) }],
  ])('throws InvalidPayload for %s', async (_title, settings) => {
    expect(await check(settings, acceptKey)).toBe('InvalidPayload');
  });
});
