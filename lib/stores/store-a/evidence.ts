import * as v from 'valibot';
import { defined } from '../../defined.ts';
import { ServiceError } from '../../errors.ts';
import { parse } from '../../parse.ts';
import type { ValidationRequest } from '../store.ts';
import { verifiedReceipt } from './app-receipt.ts';
import { fromClassicTransaction } from './classic-receipt.ts';
import { classicDownload, type Download, signedDownload } from './download.ts';
import { looksSigned, verifiedPayload } from './jws.ts';
import type { AppTransactionPayload, Environment } from './payloads.ts';
import { fromSignedTransaction } from './signed-transaction.ts';
import { latestOf, type StoreTransaction } from './store-transaction.ts';
import { appTransactionIn, type Trust, transactionIn } from './trust.ts';

const Text = v.nullish(v.string());

/** The transaction of a validation, in all forms that clients send. */
const Evidences = v.looseObject({ jwsRepresentation: Text, appStoreReceipt: Text, transactionReceipt: Text });

/** What a client showed, verified by its own signature as far as it has one. */
export interface Evidence {
  /** False for a receipt of iOS 6, which only Apple can verify. */
  readonly isVerified: boolean;
  readonly environment?: Environment;
  readonly transactions: readonly StoreTransaction[];
  /** What Apple finds the customer by: never an id that is not signed, which may be somebody else's. */
  readonly customerId?: string;
  /** The product of a signed transaction. */
  readonly productId?: string;
  /** What verifyReceipt takes. */
  readonly receiptData?: string;
  readonly download?: Download;
  readonly native: Readonly<Record<string, unknown>>;
}

/** Reads and verifies what the client sent. Throws `InvalidPayload`. */
export function readEvidence(transaction: ValidationRequest['transaction'], trust: Trust): Evidence {
  const { jwsRepresentation, appStoreReceipt, transactionReceipt } = parse(Evidences, transaction);
  const text = (jwsRepresentation || appStoreReceipt || transactionReceipt || '').trim();
  if (!text) throw invalid('The data you sent includes no jwsRepresentation, appStoreReceipt or transactionReceipt.');
  if (looksSigned(text)) return fromJws(text, trust);
  if (text.startsWith('MI')) return fromReceipt(text, trust);
  // "{" in base64: the property list that iOS 6 called a receipt.
  if (/^e[wy]/.test(text)) return { isVerified: false, transactions: [], receiptData: text, native: {} };
  throw invalid('The receipt is neither a JWS nor a receipt in base64.');
}

function fromJws(jws: string, trust: Trust): Evidence {
  const payload = verifiedPayload(jws, trust.signedData, trust.now);
  if ('receiptType' in payload) return fromDownload(appTransactionIn(payload, trust));
  const transaction = transactionIn(payload, trust);
  return {
    isVerified: true,
    environment: transaction.environment,
    transactions: [fromSignedTransaction(transaction)],
    customerId: transaction.originalTransactionId,
    productId: transaction.productId,
    native: transaction,
  };
}

function fromDownload(payload: AppTransactionPayload): Evidence {
  const { deviceVerification: _hash, deviceVerificationNonce: _nonce, ...native } = payload;
  return {
    isVerified: true,
    environment: payload.receiptType,
    transactions: [],
    ...defined({ customerId: payload.appTransactionId }),
    download: signedDownload(payload),
    native,
  };
}

function fromReceipt(receiptData: string, trust: Trust): Evidence {
  const { record, environment, createdAt } = verifiedReceipt(receiptData, trust);
  const origin = { environment: environment ?? ('Production' as const), signedAt: createdAt };
  const [first, ...others] = (record.in_app ?? []).map((transaction) => fromClassicTransaction(transaction, origin));
  return {
    isVerified: true,
    ...defined({ environment }),
    transactions: first ? [first, ...others] : [],
    ...(first && { customerId: latestOf([first, ...others]).originalTransactionId }),
    receiptData,
    download: classicDownload(record),
    native: record,
  };
}

const invalid = (message: string): ServiceError => new ServiceError('InvalidPayload', message);
