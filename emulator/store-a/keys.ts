import { generateKeyPair, type KeyObject, randomBytes, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { type CertificateAuthority, createCertificate, type DistinguishedName } from '../crypto/certificate.ts';

const generate = promisify(generateKeyPair);

const Base64 = v.pipe(v.string(), v.base64());

/** A private key with the certificates that vouch for it: its own, the intermediate, the root; DER in base64. */
const Signer = v.object({ privateKey: v.string(), chain: v.tuple([Base64, Base64, Base64]) });
export type Signer = v.InferOutput<typeof Signer>;

/** All secrets of the store: what it signs with, and what it gave the developer to call its API with. */
export const Keys = v.object({
  signedData: Signer,
  receipts: Signer,
  issuerId: v.string(),
  keyId: v.string(),
  apiPrivateKey: v.string(),
  sharedSecret: v.string(),
});
export type Keys = v.InferOutput<typeof Keys>;

const intermediateMarker = '1.2.840.113635.100.6.2.1';
const leafMarker = '1.2.840.113635.100.6.11.1';

const rootName: DistinguishedName = { commonName: 'Store A Root CA', organizationalUnit: 'Certification Authority' };
const signingUnit = 'Worldwide Developer Relations';

/** New keys under a new root: ECDSA for signed data, RSA for receipts, as the real store has. */
export async function createKeys(): Promise<Keys> {
  const [root, ecAuthority, ecLeaf, rsaAuthority, rsaLeaf, api] = await Promise.all([
    ellipticPair('P-384'),
    ellipticPair('P-384'),
    ellipticPair('P-256'),
    rsaPair(),
    rsaPair(),
    ellipticPair('P-256'),
  ]);
  const authority: CertificateAuthority = { name: rootName, key: root.privateKey, publicKey: root.publicKey };
  return {
    signedData: signer(authority, ecAuthority, ecLeaf),
    receipts: signer(authority, rsaAuthority, rsaLeaf),
    issuerId: randomUUID(),
    keyId: randomBytes(5).toString('hex').toUpperCase(),
    apiPrivateKey: pem(api.privateKey),
    sharedSecret: randomBytes(16).toString('hex'),
  };
}

interface Pair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

const ellipticPair = (namedCurve: string): Promise<Pair> => generate('ec', { namedCurve });

const rsaPair = (): Promise<Pair> => generate('rsa', { modulusLength: 2048 });

function signer(root: CertificateAuthority, intermediate: Pair, leaf: Pair): Signer {
  const kind = leaf.privateKey.asymmetricKeyType === 'rsa' ? 'rsa' : 'ec';
  const name: DistinguishedName = {
    commonName: `Worldwide Developer Relations Certification Authority (${kind})`,
    organizationalUnit: signingUnit,
  };
  const issuer: CertificateAuthority = { name, key: intermediate.privateKey, publicKey: intermediate.publicKey };
  const chain = [
    createCertificate({
      name: { commonName: 'Store Receipt Signing', organizationalUnit: signingUnit },
      publicKey: leaf.publicKey,
      issuer,
      isAuthority: false,
      marker: leafMarker,
    }),
    createCertificate({
      name,
      publicKey: intermediate.publicKey,
      issuer: root,
      isAuthority: true,
      marker: intermediateMarker,
    }),
    createCertificate({ name: root.name, publicKey: root.publicKey, issuer: root, isAuthority: true }),
  ] as const;
  return { privateKey: pem(leaf.privateKey), chain: [base64(chain[0]), base64(chain[1]), base64(chain[2])] };
}

const pem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();

const base64 = (der: Buffer): string => der.toString('base64');
