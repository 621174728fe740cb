/** App whose purchases the emulated store has. */
export const app = {
  bundleId: 'com.example.app',
  appAppleId: 1234567890,
  version: '2.4',
  /** Version of the first download. The sandbox returns 1.0 for all customers. */
  originalVersion: { Production: '1.2', Sandbox: '1.0' },
  versionExternalIdentifier: 856_000_123,
} as const;

/** Download date that the sandbox returns for all customers. */
export const sandboxDownloadDate = Date.parse('2013-08-01T07:00:00Z');

/** Returns a storefront with this currency, by country code and id. */
export function getStorefront(currency: string): { storefront: string; storefrontId: string } {
  const [storefront, storefrontId] = storefronts[currency] ?? ['USA', '143441'];
  return { storefront, storefrontId };
}

const storefronts: Readonly<Record<string, readonly [string, string]>> = {
  USD: ['USA', '143441'],
  EUR: ['DEU', '143443'],
  GBP: ['GBR', '143444'],
  JPY: ['JPN', '143462'],
  CHF: ['CHE', '143459'],
  CAD: ['CAN', '143455'],
  AUD: ['AUS', '143460'],
};
