import * as v from 'valibot';
import { ServiceError } from '../../foundation/errors.ts';
import { omitUndefined } from '../../foundation/omit-undefined.ts';
import { parse } from '../../foundation/parse.ts';
import type { ValidationRequest } from '../store.ts';
import { type AppDownload, fromAppTransaction, fromClassicReceipt } from './app-download.ts';
import { verifyAppReceipt } from './app-receipt.ts';
import { fromClassicTransactions } from './classic-receipt.ts';
import { isJws, verifyJws } from './jws.ts';
import type { AppTransactionPayload, Environment } from './payloads.ts';
import { fromSignedTransaction } from './signed-transaction.ts';
import { findLatestTransaction, type StoreTransaction } from './store-transaction.ts';
import { parseAppTransaction, parseTransaction, type VerificationContext } from './verification.ts';

const OptionalText = v.nullish(v.string());

/** The members of `transaction` that can contain evidence. Clients also send a JWS as `appStoreReceipt`. */
const EvidenceForms = v.looseObject({
  jwsRepresentation: OptionalText,
  appStoreReceipt: OptionalText,
  transactionReceipt: OptionalText,
  /** Numeric id of the app. Clients of the signed form can send it. */
  appAppleId: v.nullish(v.unknown()),
});

/** The content of the submitted evidence. */
export interface Evidence {
  /** False for iOS 6 receipts, which only verifyReceipt can verify. */
  readonly isVerified: boolean;
  readonly environment?: Environment;
  readonly transactions: readonly StoreTransaction[];
  /**
   * Id for queries of the customer's purchases. Always taken from signed data, because clients could send another
   * customer's id.
   */
  readonly lookupId?: string;
  /** Product of a signed transaction. */
  readonly productId?: string;
  /** The receipt for verifyReceipt. Undefined for signed transactions. */
  readonly receiptData?: string;
  readonly download?: AppDownload;
  readonly nativeTransaction: Readonly<Record<string, unknown>>;
}

/** Parses the evidence of a validation and verifies its signature. Throws `InvalidPayload`. */
export function verifyEvidence(
  transaction: ValidationRequest['transaction'],
  verification: VerificationContext,
): Evidence {
  const { jwsRepresentation, appStoreReceipt, transactionReceipt, appAppleId } = parse(EvidenceForms, transaction);
  const text = unwrap(jwsRepresentation || appStoreReceipt || transactionReceipt || '');
  if (!text) throw invalidEvidenceError('jwsRepresentation, appStoreReceipt or transactionReceipt is missing.');
  if (isJws(text)) return requireOwnAppleId(fromJws(text, verification), appAppleId, verification);
  if (text.startsWith('MI')) return fromReceipt(text, verification);
  // "{" in base64: iOS 6 receipts are property lists.
  if (/^e[wy]/.test(text)) return { isVerified: false, transactions: [], receiptData: text, nativeTransaction: {} };
  throw invalidEvidenceError('The receipt is neither a JWS nor a base64 receipt.');
}

/** Removes the line ends of a JWS that a client has wrapped. A base64 receipt can have them. */
function unwrap(text: string): string {
  const trimmed = text.trim();
  const joined = trimmed.replace(/\s+/g, '');
  return isJws(joined) ? joined : trimmed;
}

function fromJws(jws: string, verification: VerificationContext): Evidence {
  const payload = verifyJws(jws, verification.signedDataRoots, verification.now);
  if ('receiptType' in payload) return fromAppDownload(parseAppTransaction(payload, verification));
  const transaction = parseTransaction(payload, verification);
  return {
    isVerified: true,
    environment: transaction.environment,
    transactions: [fromSignedTransaction(transaction)],
    lookupId: transaction.originalTransactionId,
    productId: transaction.productId,
    nativeTransaction: transaction,
  };
}

/** Compares the `appAppleId` of the request with the settings. The sandbox does not use the id. */
function requireOwnAppleId(evidence: Evidence, requested: unknown, { appAppleId }: VerificationContext): Evidence {
  const isComparable = evidence.environment === 'Production' && appAppleId !== undefined && Number(requested) > 0;
  if (isComparable && Number(requested) !== appAppleId)
    throw invalidEvidenceError('appAppleId belongs to another app.');
  return evidence;
}

function fromAppDownload(payload: AppTransactionPayload): Evidence {
  const { deviceVerification: _hash, deviceVerificationNonce: _nonce, ...native } = payload;
  return {
    isVerified: true,
    environment: payload.receiptType,
    transactions: [],
    ...omitUndefined({ lookupId: payload.appTransactionId }),
    download: fromAppTransaction(payload),
    nativeTransaction: native,
  };
}

function fromReceipt(receiptData: string, verification: VerificationContext): Evidence {
  const { receipt, environment, createdAt } = verifyAppReceipt(receiptData, verification);
  const origin = { environment: environment ?? ('Production' as const), signedAt: createdAt };
  const transactions = fromClassicTransactions(receipt.in_app ?? [], origin);
  const [first, ...rest] = transactions;
  return {
    isVerified: true,
    ...omitUndefined({ environment }),
    transactions,
    ...(first && { lookupId: findLatestTransaction([first, ...rest]).originalTransactionId }),
    receiptData,
    download: fromClassicReceipt(receipt),
    nativeTransaction: receipt,
  };
}

const invalidEvidenceError = (message: string): ServiceError => new ServiceError('InvalidPayload', message);
