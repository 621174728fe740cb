import { verify } from 'node:crypto';
import * as v from 'valibot';
import { ServiceError } from '../../foundation/errors.ts';
import { parse } from '../../foundation/parse.ts';
import type { ValidationRequest } from '../store.ts';
import { parseLicenseKey } from './license-key.ts';
import { isPlayId } from './play-api.ts';
import type { GooglePlaySettings } from './settings.ts';

const Text = v.nullish(v.string());
// A malformed receipt must not fail a request whose purchase token is valid.
const LenientText = v.fallback(Text, undefined);
const TransactionBody = v.looseObject({ purchaseToken: Text, receipt: LenientText, signature: LenientText });

/** The purchase data that Google Play signs on the device. */
const Receipt = v.looseObject({
  packageName: v.exactOptional(v.string()),
  productId: v.exactOptional(v.string()),
  orderId: v.exactOptional(v.string()),
  purchaseToken: v.string(),
  purchaseTime: v.exactOptional(v.number()),
  purchaseState: v.exactOptional(v.number()),
  quantity: v.exactOptional(v.number()),
  autoRenewing: v.exactOptional(v.boolean()),
  acknowledged: v.exactOptional(v.boolean()),
  obfuscatedAccountId: v.exactOptional(v.string()),
});
export type Receipt = v.InferOutput<typeof Receipt>;

/** A purchase token, with the receipt if its signature was verified. */
export interface Evidence {
  readonly purchaseToken: string;
  readonly signedReceipt?: Receipt;
}

/**
 * Reads the purchase token and verifies the receipt. Clients may send a receipt that is not JSON, or none: the token is
 * sufficient. Throws `InvalidPayload` for a missing or malformed token, a wrong signature and another app's receipt.
 * @see https://developer.android.com/google/play/billing/security
 */
export function verifyEvidence(transaction: ValidationRequest['transaction'], settings: GooglePlaySettings): Evidence {
  const { purchaseToken: requestToken, receipt: receiptText, signature } = parse(TransactionBody, transaction);
  const receipt = receiptText ? parseReceipt(receiptText) : undefined;
  const purchaseToken = requestToken || receipt?.purchaseToken;
  if (!purchaseToken) throw invalidEvidenceError('purchaseToken is missing.');
  if (!isPlayId(purchaseToken)) throw invalidEvidenceError('purchaseToken is not a valid Google Play purchase token.');
  if (receipt?.packageName !== undefined && receipt.packageName !== settings.packageName) {
    throw invalidEvidenceError('The receipt belongs to another app.');
  }
  if (!receipt || !receiptText || !signature || settings.licenseKey === undefined) return { purchaseToken };
  if (!isValidSignature(receiptText, signature, settings.licenseKey))
    throw invalidEvidenceError('The signature does not match the receipt.');
  if (receipt.purchaseToken !== purchaseToken)
    throw invalidEvidenceError('The receipt belongs to another purchase than purchaseToken.');
  return { purchaseToken, signedReceipt: receipt };
}

function parseReceipt(text: string): Receipt | undefined {
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), Receipt), text);
  return result.success ? result.output : undefined;
}

/** Verifies SHA-1 with RSA over the exact text: another key order or white space invalidates the signature. */
function isValidSignature(text: string, signature: string, licenseKey: string): boolean {
  try {
    return verify('sha1', Buffer.from(text), parseLicenseKey(licenseKey), Buffer.from(signature, 'base64'));
  } catch (cause) {
    throw new ServiceError('InternalError', 'licenseKey in the store_b settings is not valid.', { cause });
  }
}

const invalidEvidenceError = (message: string): ServiceError => new ServiceError('InvalidPayload', message);
