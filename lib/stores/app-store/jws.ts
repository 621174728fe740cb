import { type KeyObject, verify } from 'node:crypto';
import * as v from 'valibot';
import { ServiceError } from '../../foundation/errors.ts';
import { parseJson } from '../../foundation/parse.ts';
import type { EpochMillis } from '../../foundation/time.ts';
import { type TrustedRoots, verifyCertificateChain } from './certificate-chain.ts';

/**
 * Leaf, intermediate and root certificate. The root is ignored: only pinned roots are trusted.
 * @see https://developer.apple.com/documentation/appstoreserverapi/jwsdecodedheader
 */
const Header = v.object({
  alg: v.literal('ES256'),
  x5c: v.pipe(v.array(v.string()), v.minLength(3), v.maxLength(3)),
});

/** Transactions, renewals and notifications have a `signedDate`; app transactions have a `receiptCreationDate`. */
const SigningDates = v.looseObject({
  signedDate: v.exactOptional(v.number()),
  receiptCreationDate: v.exactOptional(v.number()),
});

const compactJwsPattern = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/;
const signatureBytes = 64;

/** Checks the format only, not the signature. */
export const isJws = (text: string): boolean => text.startsWith('eyJ') && compactJwsPattern.test(text);

/**
 * Verifies a JWS of the App Store and returns its payload. The certificates must have been valid at the signing date,
 * or at `now` without one. Throws `InvalidPayload`.
 * @see https://developer.apple.com/documentation/appstoreserverapi/signeddate
 */
export function verifyJws(jws: string, roots: TrustedRoots, now: EpochMillis): Readonly<Record<string, unknown>> {
  const [, head, body, signature] = compactJwsPattern.exec(jws) ?? [];
  if (head === undefined || body === undefined || signature === undefined) throw invalidJwsError('it is not a JWS');
  const { x5c } = parseJson(Header, decodePart(head));
  const payload = parseJson(SigningDates, decodePart(body));
  const signedAt = payload.signedDate ?? payload.receiptCreationDate ?? now;
  const [leaf, intermediate] = x5c.map((certificate) => Buffer.from(certificate, 'base64'));
  if (!leaf || !intermediate) throw invalidJwsError('certificates are missing');
  const key = verifyCertificateChain({ leaf, intermediate }, roots, signedAt);
  if (!isValidSignature(key, `${head}.${body}`, signature))
    throw invalidJwsError('the signature does not match the content');
  return payload;
}

/** Accepts only the 64 bytes r||s of RFC 7518. The same signature in DER is rejected. */
function isValidSignature(key: KeyObject, content: string, signature: string): boolean {
  const bytes = Buffer.from(signature, 'base64url');
  const isP256 = key.asymmetricKeyDetails?.namedCurve === 'prime256v1';
  return (
    isP256 &&
    bytes.length === signatureBytes &&
    verify('sha256', Buffer.from(content), { key, dsaEncoding: 'ieee-p1363' }, bytes)
  );
}

const decodePart = (part: string): string => Buffer.from(part, 'base64url').toString('utf8');

const invalidJwsError = (reason: string): ServiceError =>
  new ServiceError('InvalidPayload', `The signed data is not valid: ${reason}.`);
