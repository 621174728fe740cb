import { generateKeyPair, type KeyObject, randomBytes, randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import * as v from 'valibot';
import { type CertificateAuthority, createCertificate, type DistinguishedName } from '../crypto/certificate.ts';

const generate = promisify(generateKeyPair);

const Base64 = v.pipe(v.string(), v.base64());

/** Private key in PEM with its certificate chain (leaf, intermediate, root) as DER in base64. */
const Signer = v.object({ privateKey: v.string(), chain: v.tuple([Base64, Base64, Base64]) });
export type Signer = v.InferOutput<typeof Signer>;

/** Signing keys of the store and API credentials of the developer. */
export const Keys = v.object({
  signedData: Signer,
  receipts: Signer,
  issuerId: v.string(),
  keyId: v.string(),
  apiPrivateKey: v.string(),
  sharedSecret: v.string(),
});
export type Keys = v.InferOutput<typeof Keys>;

// Extensions that mark the intermediate certificate and the leaf of Apple's signatures.
// Source: https://developer.apple.com/documentation/appstoreserverapi/jwsdecodedheader
const intermediateMarker = '1.2.840.113635.100.6.2.1';
const leafMarker = '1.2.840.113635.100.6.11.1';

const rootName: DistinguishedName = { commonName: 'App Store Root CA', organizationalUnit: 'Certification Authority' };
const signingUnit = 'Worldwide Developer Relations';

/** Generates the keys and a root: ECDSA for signed data and RSA for receipts, as in the App Store. */
export async function createKeys(): Promise<Keys> {
  const [root, ecAuthority, ecLeaf, rsaAuthority, rsaLeaf, api] = await Promise.all([
    generateEcPair('P-384'),
    generateEcPair('P-384'),
    generateEcPair('P-256'),
    generateRsaPair(),
    generateRsaPair(),
    generateEcPair('P-256'),
  ]);
  const authority: CertificateAuthority = { name: rootName, key: root.privateKey, publicKey: root.publicKey };
  return {
    signedData: createSigner(authority, ecAuthority, ecLeaf),
    receipts: createSigner(authority, rsaAuthority, rsaLeaf),
    issuerId: randomUUID(),
    keyId: randomBytes(5).toString('hex').toUpperCase(),
    apiPrivateKey: toPem(api.privateKey),
    sharedSecret: randomBytes(16).toString('hex'),
  };
}

interface KeyPair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

const generateEcPair = (namedCurve: string): Promise<KeyPair> => generate('ec', { namedCurve });

const generateRsaPair = (): Promise<KeyPair> => generate('rsa', { modulusLength: 2048 });

function createSigner(root: CertificateAuthority, intermediate: KeyPair, leaf: KeyPair): Signer {
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
  return { privateKey: toPem(leaf.privateKey), chain: [toBase64(chain[0]), toBase64(chain[1]), toBase64(chain[2])] };
}

const toPem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();

const toBase64 = (der: Buffer): string => der.toString('base64');
