import { ServiceError } from '../../shared/errors.ts';
import { parse } from '../../shared/parse.ts';
import type { EpochMillis } from '../../shared/time.ts';
import type { StoreContext } from '../store-context.ts';
import { verifyJws } from './jws.ts';
import { AppTransactionPayload, RenewalPayload, TransactionPayload } from './payloads.ts';
import type { StoreASettings } from './settings.ts';
import { getReceiptRoots, getSignedDataRoots, type TrustedRoots } from './trusted-roots.ts';

/** Whom to believe, about which application. */
export interface VerificationContext {
  readonly signedData: TrustedRoots;
  readonly receipts: TrustedRoots;
  readonly bundleId: string;
  /** The application's number in the App Store, when it is set. */
  readonly appAppleId?: number;
  readonly now: EpochMillis;
}

/** The trust of an application with these settings. */
export const createVerificationContext = (
  { bundleId, appAppleId }: StoreASettings,
  { extraRoots, now }: StoreContext,
): VerificationContext => ({
  signedData: getSignedDataRoots(extraRoots),
  receipts: getReceiptRoots(extraRoots),
  bundleId,
  ...(appAppleId !== undefined && { appAppleId }),
  now: now(),
});

/** A transaction that Apple signed for this application. Throws `InvalidPayload`. */
export const verifyTransaction = (jws: string, trust: VerificationContext): TransactionPayload =>
  parseTransaction(verifyJws(jws, trust.signedData, trust.now), trust);

/** A renewal that Apple signed; it names no application. Throws `InvalidPayload`. */
export const verifyRenewal = (jws: string, trust: VerificationContext): RenewalPayload =>
  parse(RenewalPayload, verifyJws(jws, trust.signedData, trust.now));

/** A download of this application that Apple signed. Throws `InvalidPayload`. */
export const verifyAppTransaction = (jws: string, trust: VerificationContext): AppTransactionPayload =>
  parseAppTransaction(verifyJws(jws, trust.signedData, trust.now), trust);

/** A verified payload as a transaction of this application. Throws `InvalidPayload`. */
export const parseTransaction = (payload: unknown, trust: VerificationContext): TransactionPayload =>
  requireOwnBundle(parse(TransactionPayload, payload), trust);

/** A verified payload as a download of this application. Throws `InvalidPayload`. */
export function parseAppTransaction(payload: unknown, trust: VerificationContext): AppTransactionPayload {
  const download = requireOwnBundle(parse(AppTransactionPayload, payload), trust);
  // In the sandbox the number is 0 or absent.
  const isOther = trust.appAppleId !== undefined && download.appAppleId !== trust.appAppleId;
  if (download.receiptType === 'Production' && isOther) throw otherApplicationError();
  return download;
}

/** The evidence, which must be of this application. Throws `InvalidPayload` for another's. */
export function requireOwnBundle<T extends { readonly bundleId: string }>(
  evidence: T,
  { bundleId }: VerificationContext,
): T {
  if (evidence.bundleId !== bundleId) throw otherApplicationError();
  return evidence;
}

const otherApplicationError = (): ServiceError =>
  new ServiceError('InvalidPayload', 'The receipt was issued to another application.');
