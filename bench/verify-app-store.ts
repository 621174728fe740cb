import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Environment, SignedDataVerifier } from '@apple/app-store-server-library';
import { getReceiptRoots, getSignedDataRoots } from '../lib/stores/app-store/trusted-roots.ts';
import { verifyTransaction } from '../lib/stores/app-store/verification.ts';
import { buildTransactionPayload, bundleId } from '../testing/apple-payloads.ts';
import { createCertificate, createPki, leafOid, type Pki } from '../testing/apple-pki.ts';
import { signJws } from '../testing/apple-signatures.ts';
import type { BenchResult } from './bench-result.ts';

const sampleCount = 200;
const measuredMs = 1_500;

/** Apple's root and intermediate certificates use P-384, its leaf certificates P-256. */
const upperTier = { curve: 'P-384' };

/**
 * Measures the signed transactions per second of this service's verifier and of Apple's libraries, one after the other.
 * The library for Python is measured if `python3` has the package `app-store-server-library`.
 */
export async function benchVerifyAppStore(): Promise<BenchResult> {
  const apple = createPki({ root: upperTier, intermediate: upperTier });
  const [sameChain, newChains] = [createTokens(() => apple), createTokens(() => withNewChain(apple))];
  const trust = {
    signedDataRoots: getSignedDataRoots([apple.root.der]),
    receiptRoots: getReceiptRoots([]),
    bundleId,
    now: Date.now(),
  };
  const library = new SignedDataVerifier([apple.root.der], false, Environment.SANDBOX, bundleId);
  const pythonRate = await measurePythonLibrary(apple.root.der, sameChain);
  const rates = {
    'Apple library': await measureRate(sameChain, (jws) => library.verifyAndDecodeTransaction(jws)),
    'Claimcheck, chain not cached': await measureRate(newChains, (jws) => verifyTransaction(jws, trust)),
    'Claimcheck, chain cached': await measureRate(sameChain, (jws) => verifyTransaction(jws, trust)),
    ...(pythonRate !== undefined && { 'Apple library for Python': pythonRate }),
  };
  const base = rates['Apple library'];
  return {
    title: 'Signed transactions of the App Store verified per second, in one thread',
    rows: Object.entries(rates).map(([verifier, rate]) => ({
      verifier,
      'per second': Math.round(rate),
      'times the library': Number((rate / base).toFixed(1)),
    })),
  };
}

function createTokens(chain: () => Pki): string[] {
  return Array.from({ length: sampleCount }, (_, index) =>
    signJws(buildTransactionPayload({ environment: 'Sandbox', transactionId: String(index) }), chain()),
  );
}

/** Creates more chains than the verifier caches, so none is cached when it is verified again. */
const withNewChain = (apple: Pki): Pki => ({
  ...apple,
  leaf: createCertificate(apple.intermediate, 'ec', { name: 'Leaf', marks: [leafOid] }),
});

async function measureRate(tokens: readonly string[], verify: (jws: string) => unknown): Promise<number> {
  for (const jws of tokens) await verify(jws);
  let verified = 0;
  const start = performance.now();
  while (performance.now() - start < measuredMs) {
    for (const jws of tokens) await verify(jws);
    verified += tokens.length;
  }
  return (verified / (performance.now() - start)) * 1000;
}

/** Returns undefined if the library is not installed. */
async function measurePythonLibrary(root: Buffer, transactions: readonly string[]): Promise<number | undefined> {
  const run = promisify(execFile);
  const isInstalled = await run('python3', ['-c', 'import appstoreserverlibrary']).then(
    () => true,
    () => false,
  );
  if (!isInstalled) return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'claimcheck-verify-'));
  try {
    const file = join(folder, 'sample.json');
    const sample = { root: root.toString('base64'), bundleId, transactions, milliseconds: measuredMs };
    await writeFile(file, JSON.stringify(sample));
    const { stdout } = await run('python3', [join(import.meta.dirname, 'verify-app-store.py'), file]);
    return Number(stdout);
  } finally {
    await rm(folder, { recursive: true });
  }
}
