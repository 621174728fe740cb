import { createPublicKey, type KeyObject } from 'node:crypto';

/**
 * Parses an app's license key: an RSA public key in base64 DER.
 * @see https://developer.android.com/google/play/billing/security
 */
export const parseLicenseKey = (licenseKey: string): KeyObject =>
  createPublicKey({ key: Buffer.from(licenseKey, 'base64'), format: 'der', type: 'spki' });

export function isLicenseKey(text: string): boolean {
  try {
    return parseLicenseKey(text).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}
