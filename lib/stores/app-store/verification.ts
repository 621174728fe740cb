import { ServiceError } from '../../foundation/errors.ts';
import { parse } from '../../foundation/parse.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import type { StoreContext } from '../store-context.ts';
import { getReceiptRoots, getSignedDataRoots, type TrustedRoots } from './certificate-chain.ts';
import { verifyJws } from './jws.ts';
import { AppTransactionPayload, RenewalPayload, TransactionPayload } from './payloads.ts';
import type { AppStoreSettings } from './settings.ts';

/** The trusted roots and the app whose data is accepted. */
export interface VerificationContext {
  /** Roots for JWS. */
  readonly signedDataRoots: TrustedRoots;
  /** Roots for PKCS#7 receipts. */
  readonly receiptRoots: TrustedRoots;
  readonly bundleId: string;
  /** Numeric id of the app in the App Store. Undefined if it is not in the settings. */
  readonly appAppleId?: number;
  readonly now: EpochMillis;
}

export const createVerificationContext = (
  { bundleId, appAppleId }: AppStoreSettings,
  { extraRoots, now }: Pick<StoreContext, 'extraRoots' | 'now'>,
): VerificationContext => ({
  signedDataRoots: getSignedDataRoots(extraRoots),
  receiptRoots: getReceiptRoots(extraRoots),
  bundleId,
  ...(appAppleId !== undefined && { appAppleId }),
  now: now(),
});

/** Throws `InvalidPayload` if the signature is not valid or the transaction belongs to another app. */
export const verifyTransaction = (jws: string, verification: VerificationContext): TransactionPayload =>
  parseTransaction(verifyJws(jws, verification.signedDataRoots, verification.now), verification);

/** Throws `InvalidPayload` if the signature is not valid. Renewal information does not contain the app. */
export const verifyRenewal = (jws: string, verification: VerificationContext): RenewalPayload =>
  parse(RenewalPayload, verifyJws(jws, verification.signedDataRoots, verification.now));

/** Throws `InvalidPayload` if the signature is not valid or the download belongs to another app. */
export const verifyAppTransaction = (jws: string, verification: VerificationContext): AppTransactionPayload =>
  parseAppTransaction(verifyJws(jws, verification.signedDataRoots, verification.now), verification);

/** Parses a verified payload. Throws `InvalidPayload`, including for another app's payload. */
export const parseTransaction = (payload: unknown, verification: VerificationContext): TransactionPayload =>
  requireOwnBundle(parse(TransactionPayload, payload), verification);

/** Parses a verified payload. Throws `InvalidPayload`, including for another app's payload. */
export function parseAppTransaction(payload: unknown, verification: VerificationContext): AppTransactionPayload {
  const appTransaction = requireOwnBundle(parse(AppTransactionPayload, payload), verification);
  // In the sandbox, appAppleId is 0 or absent.
  const isOtherId = verification.appAppleId !== undefined && appTransaction.appAppleId !== verification.appAppleId;
  if (appTransaction.receiptType === 'Production' && isOtherId) throw otherAppError();
  return appTransaction;
}

/** Returns the evidence. Throws `InvalidPayload` if it belongs to another app. */
export function requireOwnBundle<T extends { readonly bundleId: string }>(
  evidence: T,
  { bundleId }: Pick<VerificationContext, 'bundleId'>,
): T {
  if (evidence.bundleId !== bundleId) throw otherAppError();
  return evidence;
}

const otherAppError = (): ServiceError => new ServiceError('InvalidPayload', 'The receipt belongs to another app.');
