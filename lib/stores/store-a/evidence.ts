import * as v from 'valibot';
import { ServiceError } from '../../shared/errors.ts';
import { omitUndefined } from '../../shared/omit-undefined.ts';
import { parse } from '../../shared/parse.ts';
import type { ValidationRequest } from '../store.ts';
import { type AppDownload, fromAppTransaction, fromClassicReceipt } from './app-download.ts';
import { verifyAppReceipt } from './app-receipt.ts';
import { fromClassicTransaction } from './classic-receipt.ts';
import { isJws, verifyJws } from './jws.ts';
import type { AppTransactionPayload, Environment } from './payloads.ts';
import { fromSignedTransaction } from './signed-transaction.ts';
import { findLatestTransaction, type StoreTransaction } from './store-transaction.ts';
import { parseAppTransaction, parseTransaction, type VerificationContext } from './verification.ts';

const Text = v.nullish(v.string());

/** The transaction of a validation, in all forms that clients send. */
const EvidenceForms = v.looseObject({ jwsRepresentation: Text, appStoreReceipt: Text, transactionReceipt: Text });

/** What a client showed, verified by its own signature as far as it has one. */
export interface Evidence {
  /** False for a receipt of iOS 6, which only Apple can verify. */
  readonly isVerified: boolean;
  readonly environment?: Environment;
  readonly transactions: readonly StoreTransaction[];
  /** What Apple finds the customer by: never an id that is not signed, which may be somebody else's. */
  readonly lookupId?: string;
  /** The product of a signed transaction. */
  readonly productId?: string;
  /** What verifyReceipt takes. */
  readonly receiptData?: string;
  readonly download?: AppDownload;
  readonly nativeTransaction: Readonly<Record<string, unknown>>;
}

/** Reads and verifies what the client sent. Throws `InvalidPayload`. */
export function verifyEvidence(transaction: ValidationRequest['transaction'], trust: VerificationContext): Evidence {
  const { jwsRepresentation, appStoreReceipt, transactionReceipt } = parse(EvidenceForms, transaction);
  const text = (jwsRepresentation || appStoreReceipt || transactionReceipt || '').trim();
  if (!text)
    throw invalidEvidenceError(
      'The data you sent includes no jwsRepresentation, appStoreReceipt or transactionReceipt.',
    );
  if (isJws(text)) return fromJws(text, trust);
  if (text.startsWith('MI')) return fromReceipt(text, trust);
  // "{" in base64: the property list that iOS 6 called a receipt.
  if (/^e[wy]/.test(text)) return { isVerified: false, transactions: [], receiptData: text, nativeTransaction: {} };
  throw invalidEvidenceError('The receipt is neither a JWS nor a receipt in base64.');
}

function fromJws(jws: string, trust: VerificationContext): Evidence {
  const payload = verifyJws(jws, trust.signedData, trust.now);
  if ('receiptType' in payload) return fromAppDownload(parseAppTransaction(payload, trust));
  const transaction = parseTransaction(payload, trust);
  return {
    isVerified: true,
    environment: transaction.environment,
    transactions: [fromSignedTransaction(transaction)],
    lookupId: transaction.originalTransactionId,
    productId: transaction.productId,
    nativeTransaction: transaction,
  };
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

function fromReceipt(receiptData: string, trust: VerificationContext): Evidence {
  const { receipt, environment, createdAt } = verifyAppReceipt(receiptData, trust);
  const origin = { environment: environment ?? ('Production' as const), signedAt: createdAt };
  const [first, ...others] = (receipt.in_app ?? []).map((transaction) => fromClassicTransaction(transaction, origin));
  return {
    isVerified: true,
    ...omitUndefined({ environment }),
    transactions: first ? [first, ...others] : [],
    ...(first && { lookupId: findLatestTransaction([first, ...others]).originalTransactionId }),
    receiptData,
    download: fromClassicReceipt(receipt),
    nativeTransaction: receipt,
  };
}

const invalidEvidenceError = (message: string): ServiceError => new ServiceError('InvalidPayload', message);
