import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { checkSettings } from '../../../../lib/stores/store-a/check-settings.ts';
import type { StoreFetch } from '../../../../lib/stores/store-context.ts';
import { bundleId } from '../../../../testing/apple-payloads.ts';
import { apiSettings, createContext, failFetch, jsonResponse, textResponse } from '../../../../testing/fake-apple.ts';

const checked = async (settings: unknown, fetch: StoreFetch = failFetch, callStore = true) =>
  await checkSettings(createContext({ settings, fetch }), { callStore }).catch(({ code }) => code);

const accepted: StoreFetch = async () => jsonResponse(404, { errorCode: 4040010 });
const refused: StoreFetch = async () => textResponse(401, 'Unauthenticated');
const onlyInSandbox: StoreFetch = async (url) => (url.includes('sandbox') ? accepted(url) : refused(url));
const { privateKey: rsaKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

describe('the settings of store_a', () => {
  it('are accepted when Apple accepts the key', async () => {
    expect(await checked(apiSettings, accepted)).toBe('Apple accepts the API key.');
    expect(await checked(apiSettings, onlyInSandbox)).toContain('in the sandbox');
  });

  it('are refused when Apple refuses the key in both environments', async () => {
    expect(await checked(apiSettings, refused)).toBe('InternalError');
  });

  it('cannot be checked while Apple cannot be reached, but their form can', async () => {
    expect(await checked(apiSettings)).toBe('ConnectionFailed');
    expect(await checked(apiSettings, failFetch, false)).toBe('The form is right.');
  });

  it('may do without a key', async () => {
    expect(await checked({ bundleId })).toContain('signatures alone');
    expect(await checked({ bundleId, sharedSecret: 'secret' })).toContain('shared secret');
  });

  it.each([
    ['nothing', undefined],
    ['no bundle id', { sharedSecret: 'secret' }],
    ['half a key', { bundleId, keyId: 'KEY1' }],
    ['a number that is none', { bundleId, appAppleId: '5' }],
    ['a private key that is none', { ...apiSettings, privateKey: 'secret' }],
    ['a private key of another kind', { ...apiSettings, privateKey: rsaKey.export({ type: 'pkcs8', format: 'pem' }) }],
  ])('have a wrong form with %s', async (_title, settings) => {
    expect(await checked(settings, accepted)).toBe('InvalidPayload');
  });
});
