import { Environment, SignedDataVerifier } from '@apple/app-store-server-library';
import { getReceiptRoots, getSignedDataRoots } from '../lib/stores/app-store/certificate-chain.ts';
import { verifyTransaction } from '../lib/stores/app-store/verification.ts';
import { appAppleId, bundleId } from './apple-payloads.ts';

interface VerificationInput {
  /** DER of the only trusted root certificate. */
  readonly root: Buffer;
  readonly bundleId?: string;
  /** Epoch milliseconds. */
  readonly now?: number;
}

/** Creates the verification context of the service for one root certificate and one app. */
export const createVerificationContext = (input: VerificationInput) => ({
  signedDataRoots: getSignedDataRoots([input.root]),
  receiptRoots: getReceiptRoots([input.root]),
  bundleId: input.bundleId ?? bundleId,
  appAppleId,
  now: input.now ?? Date.now(),
});

/** The service accepts the JWS as a transaction that Apple signed for the app. */
export function isAcceptedByService(jws: string, input: VerificationInput): boolean {
  try {
    verifyTransaction(jws, createVerificationContext(input));
    return true;
  } catch {
    return false;
  }
}

/** Apple's library accepts the JWS in the production or the sandbox environment. */
export async function isAcceptedByApple(jws: string, input: VerificationInput): Promise<boolean> {
  const verdicts = [Environment.PRODUCTION, Environment.SANDBOX].map((environment) =>
    createAppleVerifier(environment, input)
      .verifyAndDecodeTransaction(jws)
      .then(
        () => true,
        () => false,
      ),
  );
  return (await Promise.all(verdicts)).includes(true);
}

/** Creates the verifier of Apple's library, without the revocation checks that need a network. */
export const createAppleVerifier = (environment: Environment, input: VerificationInput): SignedDataVerifier =>
  new SignedDataVerifier(
    [input.root],
    false,
    environment,
    input.bundleId ?? bundleId,
    environment === Environment.PRODUCTION ? appAppleId : undefined,
  );
