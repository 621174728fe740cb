import { Environment, SignedDataVerifier } from '@apple/app-store-server-library';
import { verifiedTransaction } from '../../lib/stores/store-a/trust.ts';
import { receiptRoots, signedDataRoots } from '../../lib/stores/store-a/trusted-roots.ts';
import { appAppleId, bundleId } from './apple-payloads.ts';

interface Circumstances {
  readonly root: Buffer;
  readonly bundleId?: string;
  readonly now?: number;
}

/** Whom we believe in a test: the root, about one application. */
export const trusting = (circumstances: Circumstances) => ({
  signedData: signedDataRoots([circumstances.root]),
  receipts: receiptRoots([circumstances.root]),
  bundleId: circumstances.bundleId ?? bundleId,
  appAppleId,
  now: circumstances.now ?? Date.now(),
});

/** Whether we take it for a transaction that Apple signed for the application. */
export function weBelieve(jws: string, circumstances: Circumstances): boolean {
  try {
    verifiedTransaction(jws, trusting(circumstances));
    return true;
  } catch {
    return false;
  }
}

/** Whether Apple's own library does, in one of the two environments that we accept. */
export async function appleBelieves(jws: string, circumstances: Circumstances): Promise<boolean> {
  const verdicts = [Environment.PRODUCTION, Environment.SANDBOX].map((environment) =>
    officialVerifier(environment, circumstances)
      .verifyAndDecodeTransaction(jws)
      .then(
        () => true,
        () => false,
      ),
  );
  return (await Promise.all(verdicts)).includes(true);
}

/** Apple's verifier, without the revocation checks that need a network. */
export const officialVerifier = (environment: Environment, circumstances: Circumstances): SignedDataVerifier =>
  new SignedDataVerifier(
    [circumstances.root],
    false,
    environment,
    circumstances.bundleId ?? bundleId,
    environment === Environment.PRODUCTION ? appAppleId : undefined,
  );
