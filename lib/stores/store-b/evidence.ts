import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import * as v from 'valibot';
import { ServiceError } from '../../shared/errors.ts';
import { parse } from '../../shared/parse.ts';
import type { ValidationRequest } from '../store.ts';
import { isPlayId } from './play-api.ts';
import type { StoreBSettings } from './settings.ts';

const Text = v.nullish(v.string());
// What is not needed must not fail what is.
const Optional = v.fallback(Text, undefined);
const TransactionBody = v.looseObject({ purchaseToken: Text, receipt: Optional, signature: Optional });

/** What the device's Play Store signed. */
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

/** What a client sent: the token, and the receipt where it is one and its signature holds. */
export interface Evidence {
  readonly purchaseToken: string;
  readonly signedReceipt?: Receipt;
}

/**
 * Reads the transaction of a request. The token is the authority: some clients send a receipt that is no JSON, or none.
 * Throws `InvalidPayload` without a token, for a signature that does not hold, and for another application's receipt.
 */
export function verifyEvidence(transaction: ValidationRequest['transaction'], settings: StoreBSettings): Evidence {
  const { purchaseToken: sent, receipt: text, signature } = parse(TransactionBody, transaction);
  const receipt = text ? parseReceipt(text) : undefined;
  const purchaseToken = sent || receipt?.purchaseToken;
  if (!purchaseToken) throw invalidEvidenceError('The data you sent includes no purchaseToken.');
  if (!isPlayId(purchaseToken)) throw invalidEvidenceError('The purchaseToken is none of Google Play.');
  if (receipt?.packageName !== undefined && receipt.packageName !== settings.packageName) {
    throw invalidEvidenceError('The receipt was issued to another application.');
  }
  if (!receipt || !text || !signature || settings.licenseKey === undefined) return { purchaseToken };
  if (!isValidSignature(text, signature, settings.licenseKey))
    throw invalidEvidenceError('The signature is not of this receipt.');
  if (receipt.purchaseToken !== purchaseToken) throw invalidEvidenceError('The receipt is of another purchase.');
  return { purchaseToken, signedReceipt: receipt };
}

function parseReceipt(text: string): Receipt | undefined {
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), Receipt), text);
  return result.success ? result.output : undefined;
}

/** The signature is over the exact text: order of keys and white space count. */
function isValidSignature(text: string, signature: string, licenseKey: string): boolean {
  try {
    return verify('sha1', Buffer.from(text), toPublicKey(licenseKey), Buffer.from(signature, 'base64'));
  } catch (cause) {
    throw new ServiceError('InternalError', 'The licence key of the store_b settings cannot be read.', { cause });
  }
}

const toPublicKey = (licenseKey: string): KeyObject =>
  createPublicKey({ key: Buffer.from(licenseKey, 'base64'), format: 'der', type: 'spki' });

/** Whether the text is a key that signatures of receipts can be checked with. */
export function isLicenseKey(text: string): boolean {
  try {
    return toPublicKey(text).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}

const invalidEvidenceError = (message: string): ServiceError => new ServiceError('InvalidPayload', message);
