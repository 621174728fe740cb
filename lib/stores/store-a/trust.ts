import { ServiceError } from '../../errors.ts';
import { parse } from '../../parse.ts';
import type { Millis } from '../../purchases/purchase.ts';
import type { Asking } from '../store.ts';
import { verifiedPayload } from './jws.ts';
import { AppTransactionPayload, RenewalPayload, TransactionPayload } from './payloads.ts';
import type { StoreASettings } from './settings.ts';
import { receiptRoots, signedDataRoots, type TrustedRoots } from './trusted-roots.ts';

/** Whom to believe, about which application. */
export interface Trust {
  readonly signedData: TrustedRoots;
  readonly receipts: TrustedRoots;
  readonly bundleId: string;
  /** The application's number in the App Store, when it is set. */
  readonly appAppleId?: number;
  readonly now: Millis;
}

/** The trust of an application with these settings. */
export const trustOf = ({ bundleId, appAppleId }: StoreASettings, { extraRoots, now }: Asking): Trust => ({
  signedData: signedDataRoots(extraRoots),
  receipts: receiptRoots(extraRoots),
  bundleId,
  ...(appAppleId !== undefined && { appAppleId }),
  now: now(),
});

/** A transaction that Apple signed for this application. Throws `InvalidPayload`. */
export const verifiedTransaction = (jws: string, trust: Trust): TransactionPayload =>
  transactionIn(verifiedPayload(jws, trust.signedData, trust.now), trust);

/** A renewal that Apple signed; it names no application. Throws `InvalidPayload`. */
export const verifiedRenewal = (jws: string, trust: Trust): RenewalPayload =>
  parse(RenewalPayload, verifiedPayload(jws, trust.signedData, trust.now));

/** A download of this application that Apple signed. Throws `InvalidPayload`. */
export const verifiedAppTransaction = (jws: string, trust: Trust): AppTransactionPayload =>
  appTransactionIn(verifiedPayload(jws, trust.signedData, trust.now), trust);

/** A verified payload as a transaction of this application. Throws `InvalidPayload`. */
export const transactionIn = (payload: unknown, trust: Trust): TransactionPayload =>
  ours(parse(TransactionPayload, payload), trust);

/** A verified payload as a download of this application. Throws `InvalidPayload`. */
export function appTransactionIn(payload: unknown, trust: Trust): AppTransactionPayload {
  const download = ours(parse(AppTransactionPayload, payload), trust);
  // In the sandbox the number is 0 or absent.
  const isOther = trust.appAppleId !== undefined && download.appAppleId !== trust.appAppleId;
  if (download.receiptType === 'Production' && isOther) throw otherApplication();
  return download;
}

/** The evidence, which must be of this application. Throws `InvalidPayload` for another's. */
export function ours<T extends { readonly bundleId: string }>(evidence: T, { bundleId }: Trust): T {
  if (evidence.bundleId !== bundleId) throw otherApplication();
  return evidence;
}

const otherApplication = (): ServiceError =>
  new ServiceError('InvalidPayload', 'The receipt was issued to another application.');
