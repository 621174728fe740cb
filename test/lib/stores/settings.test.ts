import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { type Platform, platforms } from '../../../lib/foundation/platform.ts';
import * as appStore from '../../../lib/stores/app-store/settings.ts';
import * as braintree from '../../../lib/stores/braintree/settings.ts';
import * as googlePlay from '../../../lib/stores/google-play/settings.ts';
import { loadStore } from '../../../lib/stores/index.ts';
import * as microsoftStore from '../../../lib/stores/microsoft-store/settings.ts';
import * as stripe from '../../../lib/stores/stripe/settings.ts';
import { createContext } from '../../../testing/fake-apple.ts';

const pkcs8 = { type: 'pkcs8', format: 'pem' } as const;
const ecKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export(pkcs8).toString();
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const rsaKey = rsa.privateKey.export(pkcs8).toString();

const serviceAccount = {
  client_email: 'ann@example.iam.gserviceaccount.com',
  private_key: rsaKey,
  private_key_id: 'k1',
};
const complete = {
  appStore: {
    bundleId: 'com.example.app',
    issuerId: '57246542-96fe-1a63-e053-0824d011072a',
    keyId: '2X9R4HXF34',
    privateKey: ecKey,
    sharedSecret: 'secret',
    offers: [{ kind: 'promotional', productId: 'pro', offerId: 'offer', who: 'lapsed' }],
  },
  googlePlay: {
    packageName: 'com.example.app',
    serviceAccount,
    licenseKey: rsa.publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
    pushAudience: 'https://example.com/push',
    pushServiceAccount: 'push@example.iam.gserviceaccount.com',
  },
  googlePlayText: { packageName: 'com.example.app', serviceAccount: JSON.stringify(serviceAccount) },
  microsoftStore: {
    tenantId: 'contoso.com',
    clientId: 'client',
    clientSecret: 'secret',
    sandboxId: 'XDKS.1',
    productIds: { pro: '9NBLGGH4R315' },
  },
  stripe: { secretKey: 'sk_live_abcdefgh', webhookSecrets: ['whsec_1', 'whsec_2'], portalConfiguration: 'bpc_1' },
  braintree: {
    merchantId: 'merchant',
    publicKey: 'public',
    privateKey: 'private',
    environment: 'production',
    timeZone: 'America/Chicago',
    catalogue: {
      pro: { type: 'paid subscription', amount: '4.99', currency: 'USD', planId: 'pro', merchantAccountId: 'usd' },
      tip: { type: 'consumable', amount: 'any', minimum: '1', maximum: '50', currency: 'USD' },
    },
  },
};

/** Returns copies of the value in each of which one text has white space around it, by the path of the text. */
function padEachText(value: unknown, path = ''): [path: string, padded: unknown][] {
  if (typeof value === 'string') return [[path, `\ufeff ${value}\r\n`]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    padEachText(member, path === '' ? key : `${path}.${key}`).map(([paddedPath, padded]): [string, unknown] => [
      paddedPath,
      Array.isArray(value) ? value.with(Number(key), padded) : { ...value, [key]: padded },
    ]),
  );
}

interface SettingsParser {
  readonly parseEnteredSettings: (settings: unknown) => unknown;
  readonly parseStoredSettings: (settings: unknown) => unknown;
}
const stores: readonly (readonly [string, SettingsParser, object])[] = [
  ['App Store', appStore, complete.appStore],
  ['Google Play', googlePlay, complete.googlePlay],
  ['Google Play with the text of a file', googlePlay, complete.googlePlayText],
  ['Microsoft Store', microsoftStore, complete.microsoftStore],
  ['Stripe', stripe, complete.stripe],
  ['Braintree', braintree, complete.braintree],
];
const cases = stores.flatMap(([store, parser, settings]) =>
  padEachText(settings).map(([path, padded]) => ({ store, path, parser, settings, padded })),
);

const trim = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_key, member) => (typeof member === 'string' ? member.trim() : member));

/** A request of a client to each store. */
const transactions: Readonly<Record<Platform, object>> = {
  store_a: { jwsRepresentation: 'a.b.c' },
  store_b: { purchaseToken: 'token' },
  store_c: { storeId: '9NBLGGH5W123' },
  processor_a: { id: 'sub_1' },
  service_processor_a: { id: 'sub_1' },
  processor_b: { paymentMethodNonce: 'nonce' },
};

describe('settings of a store', () => {
  it.each(platforms)('cause InternalError if the app has none of %s, or invalid ones', async (platform) => {
    const transaction = { type: platform, ...transactions[platform] };
    const request = { id: 'premium', type: 'paid subscription', transaction } as const;
    const store = await loadStore(platform);
    for (const [settings, message] of [
      [undefined, `The app has no ${platform} settings.`],
      [{ bundleId: 7 }, `The ${platform} settings of the app are not valid.`],
    ]) {
      const validation = store.validate(request, createContext({ settings }));
      await expect(validation).rejects.toMatchObject({ code: 'InternalError', message });
    }
  });

  it.each(cases)('removes the white space around $path ($store)', ({ parser, settings, padded }) => {
    const expected = trim(parser.parseEnteredSettings(settings));
    expect(trim(parser.parseEnteredSettings(padded))).toEqual(expected);
    // Earlier releases have stored it.
    expect(parser.parseStoredSettings(padded)).toEqual(parser.parseStoredSettings(settings));
    expect(JSON.stringify(parser.parseStoredSettings(padded))).not.toMatch(/\ufeff|\\r/);
  });

  it.each([
    ['spaces', (key: string) => key.trim().replaceAll('\n', ' '), 'with line ends instead of spaces'],
    ['the characters \\n', (key: string) => key.replaceAll('\n', '\\n'), 'with line ends instead of the characters'],
    ['nothing', (key: string) => key.replaceAll('\n', ''), 'with its line ends'],
  ])('names %s instead of the line ends of a private key', (_case, change, fault) => {
    expect(() => appStore.parseEnteredSettings({ ...complete.appStore, privateKey: change(ecKey) })).toThrow(
      new RegExp(`^privateKey: expected a private key.*${fault}`),
    );
    const changed = { ...serviceAccount, private_key: change(rsaKey) };
    expect(() => googlePlay.parseEnteredSettings({ packageName: 'a', serviceAccount: changed })).toThrow(
      new RegExp(`^serviceAccount\\.private_key: expected a complete RSA private key.*${fault}`),
    );
  });

  it('rejects a part of a private key', () => {
    const changed = { ...serviceAccount, private_key: rsaKey.slice(0, 400) };
    expect(() => googlePlay.parseEnteredSettings({ packageName: 'a', serviceAccount: changed })).toThrow(
      'serviceAccount.private_key: expected a complete RSA private key in PEM.',
    );
  });
});
