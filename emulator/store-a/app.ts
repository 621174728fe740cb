/** The one application that the emulated store sells in. */
export const app = {
  bundleId: 'com.example.app',
  appAppleId: 1234567890,
  version: '2.4',
  /** The version that a customer downloaded first; sandbox says 1.0 of everyone. */
  originalVersion: { Production: '1.2', Sandbox: '1.0' },
  versionExternalIdentifier: 856_000_123,
} as const;

/** What the sandbox gives for the download date of every customer. */
export const sandboxDownloadDate = Date.parse('2013-08-01T07:00:00Z');

/** The storefront, by name and number, where a currency is used. */
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
