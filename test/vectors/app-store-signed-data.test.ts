import { createPrivateKey } from 'node:crypto';
import { Environment } from '@apple/app-store-server-library';
import { expect, it } from '@jest/globals';
import { getSignedDataRoots, verifyCertificateChain } from '../../lib/stores/app-store/certificate-chain.ts';
import { verifyEvidence } from '../../lib/stores/app-store/evidence.ts';
import { verifyJws } from '../../lib/stores/app-store/jws.ts';
import { buildTransactionPayload } from '../../testing/apple-payloads.ts';
import type { Pki } from '../../testing/apple-pki.ts';
import { signJws } from '../../testing/apple-signatures.ts';
import {
  createAppleVerifier,
  createVerificationContext,
  isAcceptedByApple,
  isAcceptedByService,
} from '../../testing/apple-verification.ts';
import { describeWithVectors, readVector } from '../../testing/vectors.ts';

const samples = 'apple/apple-lib/tests/resources';
const readSample = (...path: string[]): string =>
  readVector(samples, ...path)
    .toString('utf8')
    .trim();

describeWithVectors("verifyJws with the samples of Apple's tests", () => {
  const root = readVector(samples, 'certs/testCA.der');
  const roots = getSignedDataRoots([root]);
  const appleVerifier = createAppleVerifier(Environment.SANDBOX, { root, bundleId: 'com.example' });

  it.each([
    ['transactionInfo', (jws: string) => appleVerifier.verifyAndDecodeTransaction(jws)],
    ['renewalInfo', (jws: string) => appleVerifier.verifyAndDecodeRenewalInfo(jws)],
    ['testNotification', (jws: string) => appleVerifier.verifyAndDecodeNotification(jws)],
  ])("returns the same payload as Apple's library for %s", async (name, verify) => {
    const jws = readSample('mock_signed_data', name);
    expect(verifyJws(jws, roots, Date.now())).toEqual(await verify(jws));
  });

  it("rejects a notification without certificates, like Apple's library", async () => {
    const jws = readSample('mock_signed_data/missingX5CHeaderClaim');
    expect(() => verifyJws(jws, roots, Date.now())).toThrow('x5c');
    await expect(appleVerifier.verifyAndDecodeNotification(jws)).rejects.toThrow();
  });

  it('rejects data signed by Xcode', () => {
    for (const name of ['xcode-signed-app-transaction', 'xcode-signed-renewal-info', 'xcode-signed-transaction']) {
      const jws = readSample('xcode', name);
      for (const trustedRoots of [getSignedDataRoots([]), roots]) {
        expect(() => verifyJws(jws, trustedRoots, Date.now())).toThrow();
      }
    }
  });

  it.each(['xcode-app-receipt-empty', 'xcode-app-receipt-with-transaction'])('rejects %s', (name) => {
    const verification = createVerificationContext({ root, bundleId: 'com.example.naturelab.backyardbirds.example' });
    expect(() => verifyEvidence({ appStoreReceipt: readSample('xcode', name) }, verification)).toThrow(
      'not from Apple',
    );
  });

  it('returns an iOS 6 receipt as unverified evidence', () => {
    const evidence = verifyEvidence(
      { transactionReceipt: readSample('mock_signed_data/legacyTransaction') },
      createVerificationContext({ root }),
    );
    expect(evidence).toMatchObject({
      isVerified: false,
      transactions: [],
      receiptData: expect.stringMatching(/^ewoi/),
    });
  });
});

describeWithVectors('verifyTransaction with chains of a test PKI', () => {
  const pki = 'apple/testpki';
  const readKeyedCertificate = (name: string, key: string) => ({
    name,
    der: readVector(pki, `${name}.der`),
    privateKey: createPrivateKey(readVector(pki, key)),
    publicKey: createPrivateKey(readVector(pki, key)),
  });
  const readChain = (leaf: string, intermediate: string): Pki => ({
    root: readKeyedCertificate('root_ca', 'testCA.key'),
    intermediate: readKeyedCertificate(intermediate, 'testIntermediate.key'),
    leaf: readKeyedCertificate(leaf, 'testLeaf.key'),
  });

  it.each([
    ['leaf_cert', 'intermediate_ca', true],
    ['leaf_cert_invalid_oid', 'intermediate_ca', false],
    ['leaf_cert_for_intermediate_ca_invalid_oid', 'intermediate_ca_invalid_oid', false],
    ['leaf_cert', 'intermediate_ca_invalid_oid', false],
    ['intermediate_ca', 'leaf_cert', false],
  ])("agrees with Apple's library on %s under %s: %s", async (leaf, intermediate, isAccepted) => {
    const jws = signJws(buildTransactionPayload(), readChain(leaf, intermediate));
    const root = readVector(pki, 'root_ca.der');
    expect([isAcceptedByService(jws, { root }), await isAcceptedByApple(jws, { root })]).toEqual([
      isAccepted,
      isAccepted,
    ]);
  });
});

describeWithVectors("verifyCertificateChain with Apple's certificates", () => {
  const chain = {
    leaf: readVector('apple/roots/prod-mac-app-store-signing-leaf.cer'),
    intermediate: readVector('apple/roots/AppleWWDRCA-G6.cer'),
  };
  const verifyAt = (date: string) => () => verifyCertificateChain(chain, getSignedDataRoots([]), Date.parse(date));

  it('accepts the production leaf under the pinned root', () => {
    expect(verifyAt('2026-06-01')().asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
  });

  it('rejects a signing date outside the validity of the leaf', () => {
    expect(verifyAt('2025-09-01')).toThrow('not valid at the signing date');
    expect(verifyAt('2027-11-01')).toThrow('not valid at the signing date');
  });

  it('rejects the StoreKit test certificate as leaf or intermediate', () => {
    const test = readVector('apple/roots/StoreKitTestCertificate.cer');
    const roots = getSignedDataRoots([]);
    expect(() => verifyCertificateChain({ leaf: test, intermediate: test }, roots, Date.parse('2026-06-01'))).toThrow(
      'not issued by a trusted root',
    );
    expect(() => verifyCertificateChain({ ...chain, leaf: test }, roots, Date.parse('2026-06-01'))).toThrow(
      'chain is broken',
    );
  });
});
