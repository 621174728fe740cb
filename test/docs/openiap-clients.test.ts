import { describe, expect, it } from '@jest/globals';
import { verifyPurchase } from '../../lib/openiap/contract.ts';
import { callEndpoint } from '../../testing/call.ts';
import { readSnippet } from '../../testing/documents.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

const service = startBeforeAll(startTestService);

/** The argument of `verifyPurchaseWithProvider` in the libraries. */
interface IapKitCall {
  readonly provider: 'iapkit';
  readonly iapkit: { readonly apiKey: string; readonly baseUrl: string; readonly [store: string]: object | string };
}

describe('docs/guides/openiap-clients.md', () => {
  it('verifies purchases with the code of the page, whose native module is faked', async () => {
    const { publicKey } = await service.createApp(['store_a', 'store_b']);
    const sent: object[] = [];
    const results: object[] = [];
    // The native modules send the members of the store with its name, and return the response with the provider.
    const verifyPurchaseWithProvider = async ({ provider, iapkit }: IapKitCall) => {
      const { apiKey, baseUrl, ...evidence } = iapkit;
      expect(new URL(baseUrl).origin).toBe(baseUrl);
      const [[store, members] = ['', {}]] = Object.entries(evidence);
      const body = { store, ...(members as object) };
      sent.push(body);
      const headers = { authorization: `Bearer ${apiKey.replace('pub_key', publicKey)}`, 'X-OpenIAP-Spec': '3.2.1' };
      const response = await callEndpoint(verifyPurchase, { headers, body });
      if (response.status !== 200) throw new Error('Verification failed');
      results.push(response.body);
      return { provider, iapkit: response.body };
    };
    const code = readSnippet('docs/guides/openiap-clients.md', 'app')
      .replace(/^import .*$/m, '')
      .replace('export async', 'async');
    const verify = new Function('verifyPurchaseWithProvider', `${code}; return verify;`)(verifyPurchaseWithProvider);
    const order = { productId: 'premium', type: 'paid subscription', applicationUsername: 'ann' };
    const apple = await service.callControl('/purchases', { ...order, platform: 'store_a', form: 'product' });
    const google = await service.callControl('/purchases', { ...order, platform: 'store_b' });
    const { jwsRepresentation: jws } = apple.validate.transaction;
    const { purchaseToken } = google.validate.transaction;
    expect(await verify({ purchaseToken: jws }, 'ios')).toBe(true);
    expect(await verify({ purchaseToken }, 'android')).toBe(true);
    expect(results).toMatchObject([
      { isValid: true, store: 'apple', productId: 'premium' },
      { isValid: true, store: 'google', productId: 'premium' },
    ]);
    expect(sent).toEqual([
      { store: 'apple', jws },
      { store: 'google', purchaseToken },
    ]);
    for (const { id } of [apple, google]) await service.callControl(`/purchases/${id}/expire`, {});
    expect(await verify({ purchaseToken: jws }, 'ios')).toBe(false);
    expect(await verify({ purchaseToken }, 'android')).toBe(false);
    // An error proves nothing.
    expect(await verify({ purchaseToken: 'not a token' }, 'ios')).toBeUndefined();
  });
});
