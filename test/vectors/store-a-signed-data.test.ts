import { createPrivateKey } from 'node:crypto';
import { Environment } from '@apple/app-store-server-library';
import { expect, it } from '@jest/globals';
import { verifyCertificateChain } from '../../lib/stores/store-a/certificate-chain.ts';
import { verifyEvidence } from '../../lib/stores/store-a/evidence.ts';
import { verifyJws } from '../../lib/stores/store-a/jws.ts';
import { getSignedDataRoots } from '../../lib/stores/store-a/trusted-roots.ts';
import { buildTransactionPayload } from '../../testing/apple-payloads.ts';
import type { Pki } from '../../testing/apple-pki.ts';
import { signJws } from '../../testing/apple-signatures.ts';
import {
  createAppleVerifier,
  createVerificationContext,
  isAcceptedByApple,
  isAcceptedByUs,
} from '../../testing/apple-verification.ts';
import { describeWithVectors, readVector } from '../../testing/vectors.ts';

const samples = 'apple/apple-lib/tests/resources';
const sample = (...path: string[]): string =>
  readVector(samples, ...path)
    .toString('utf8')
    .trim();

describeWithVectors("samples of Apple's own tests", () => {
  const root = readVector(samples, 'certs/testCA.der');
  const roots = getSignedDataRoots([root]);
  const official = createAppleVerifier(Environment.SANDBOX, { root, bundleId: 'com.example' });

  it.each([
    ['transactionInfo', (jws: string) => official.verifyAndDecodeTransaction(jws)],
    ['renewalInfo', (jws: string) => official.verifyAndDecodeRenewalInfo(jws)],
    ['testNotification', (jws: string) => official.verifyAndDecodeNotification(jws)],
  ])('%s says the same to both verifiers', async (name, verify) => {
    const jws = sample('mock_signed_data', name);
    expect(verifyJws(jws, roots, Date.now())).toEqual(await verify(jws));
  });

  it('a notification without certificates is believed by neither', async () => {
    const jws = sample('mock_signed_data/missingX5CHeaderClaim');
    expect(() => verifyJws(jws, roots, Date.now())).toThrow('x5c');
    await expect(official.verifyAndDecodeNotification(jws)).rejects.toThrow();
  });

  it('what Xcode signs is refused, whichever root is trusted', () => {
    for (const name of ['xcode-signed-app-transaction', 'xcode-signed-renewal-info', 'xcode-signed-transaction']) {
      const jws = sample('xcode', name);
      for (const trusted of [getSignedDataRoots([]), roots]) {
        expect(() => verifyJws(jws, trusted, Date.now())).toThrow();
      }
    }
  });

  it.each(['xcode-app-receipt-empty', 'xcode-app-receipt-with-transaction'])('%s is refused', (name) => {
    const trust = createVerificationContext({ root, bundleId: 'com.example.naturelab.backyardbirds.example' });
    expect(() => verifyEvidence({ appStoreReceipt: sample('xcode', name) }, trust)).toThrow("not Apple's");
  });

  it('a receipt of iOS 6 is recognized as one that only Apple can verify', () => {
    const evidence = verifyEvidence(
      { transactionReceipt: sample('mock_signed_data/legacyTransaction') },
      createVerificationContext({ root }),
    );
    expect(evidence).toMatchObject({
      isVerified: false,
      transactions: [],
      receiptData: expect.stringMatching(/^ewoi/),
    });
  });
});

describeWithVectors('chains of a test PKI', () => {
  const pki = 'apple/testpki';
  const holder = (name: string, key: string) => ({
    name,
    der: readVector(pki, `${name}.der`),
    privateKey: createPrivateKey(readVector(pki, key)),
    publicKey: createPrivateKey(readVector(pki, key)),
  });
  const chainOf = (leaf: string, intermediate: string): Pki => ({
    root: holder('root_ca', 'testCA.key'),
    intermediate: holder(intermediate, 'testIntermediate.key'),
    leaf: holder(leaf, 'testLeaf.key'),
  });

  it.each([
    ['leaf_cert', 'intermediate_ca', true],
    ['leaf_cert_invalid_oid', 'intermediate_ca', false],
    ['leaf_cert_for_intermediate_ca_invalid_oid', 'intermediate_ca_invalid_oid', false],
    ['leaf_cert', 'intermediate_ca_invalid_oid', false],
    ['intermediate_ca', 'leaf_cert', false],
  ])('%s under %s: both verifiers say %s', async (leaf, intermediate, isBelieved) => {
    const jws = signJws(buildTransactionPayload(), chainOf(leaf, intermediate));
    const root = readVector(pki, 'root_ca.der');
    expect([isAcceptedByUs(jws, { root }), await isAcceptedByApple(jws, { root })]).toEqual([isBelieved, isBelieved]);
  });
});

describeWithVectors("Apple's real certificates", () => {
  const chain = {
    leaf: readVector('apple/roots/prod-mac-app-store-signing-leaf.cer'),
    intermediate: readVector('apple/roots/AppleWWDRCA-G6.cer'),
  };
  const at = (date: string) => () => verifyCertificateChain(chain, getSignedDataRoots([]), Date.parse(date));

  it('lead from the leaf of production to the root that we hold', () => {
    expect(at('2026-06-01')().asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
  });

  it('lead nowhere outside of the validity of the leaf', () => {
    expect(at('2025-09-01')).toThrow('not valid at the time');
    expect(at('2027-11-01')).toThrow('not valid at the time');
  });

  it('lead nowhere when the certificate of StoreKit testing stands in for one of them', () => {
    const test = readVector('apple/roots/StoreKitTestCertificate.cer');
    const roots = getSignedDataRoots([]);
    expect(() => verifyCertificateChain({ leaf: test, intermediate: test }, roots, Date.parse('2026-06-01'))).toThrow(
      'no trusted root',
    );
    expect(() => verifyCertificateChain({ ...chain, leaf: test }, roots, Date.parse('2026-06-01'))).toThrow(
      'chain is broken',
    );
  });
});
