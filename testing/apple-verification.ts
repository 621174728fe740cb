import { Environment, SignedDataVerifier } from '@apple/app-store-server-library';
import { getReceiptRoots, getSignedDataRoots } from '../lib/stores/store-a/trusted-roots.ts';
import { verifyTransaction } from '../lib/stores/store-a/verification.ts';
import { appAppleId, bundleId } from './apple-payloads.ts';

interface VerificationCase {
  readonly root: Buffer;
  readonly bundleId?: string;
  readonly now?: number;
}

/** Whom we believe in a test: the root, about one application. */
export const createVerificationContext = (circumstances: VerificationCase) => ({
  signedDataRoots: getSignedDataRoots([circumstances.root]),
  receiptRoots: getReceiptRoots([circumstances.root]),
  bundleId: circumstances.bundleId ?? bundleId,
  appAppleId,
  now: circumstances.now ?? Date.now(),
});

/** Whether we take it for a transaction that Apple signed for the application. */
export function isAcceptedByUs(jws: string, circumstances: VerificationCase): boolean {
  try {
    verifyTransaction(jws, createVerificationContext(circumstances));
    return true;
  } catch {
    return false;
  }
}

/** Whether Apple's own library does, in one of the two environments that we accept. */
export async function isAcceptedByApple(jws: string, circumstances: VerificationCase): Promise<boolean> {
  const verdicts = [Environment.PRODUCTION, Environment.SANDBOX].map((environment) =>
    createAppleVerifier(environment, circumstances)
      .verifyAndDecodeTransaction(jws)
      .then(
        () => true,
        () => false,
      ),
  );
  return (await Promise.all(verdicts)).includes(true);
}

/** Apple's verifier, without the revocation checks that need a network. */
export const createAppleVerifier = (environment: Environment, circumstances: VerificationCase): SignedDataVerifier =>
  new SignedDataVerifier(
    [circumstances.root],
    false,
    environment,
    circumstances.bundleId ?? bundleId,
    environment === Environment.PRODUCTION ? appAppleId : undefined,
  );
