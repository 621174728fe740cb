import { type KeyObject, verify } from 'node:crypto';
import * as v from 'valibot';
import { ServiceError } from '../../shared/errors.ts';
import { parseJson } from '../../shared/parse.ts';
import type { EpochMillis } from '../../shared/time.ts';
import { verifyCertificateChain } from './certificate-chain.ts';
import type { TrustedRoots } from './trusted-roots.ts';

/** The third certificate is whatever the sender likes: the root that counts is the one we hold. */
const Header = v.object({
  alg: v.literal('ES256'),
  x5c: v.strictTuple([v.string(), v.string(), v.string()]),
});

const Dates = v.looseObject({
  signedDate: v.exactOptional(v.number()),
  receiptCreationDate: v.exactOptional(v.number()),
});

const compactJwsPattern = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/;
const signatureBytes = 64;

/** Whether the text has the form of a JWS. */
export const isJws = (text: string): boolean => text.startsWith('eyJ') && compactJwsPattern.test(text);

/**
 * The payload of a JWS that Apple signed, with its certificates valid at the date that it gives itself (at `now` when it
 * gives none). Throws `InvalidPayload` for anything else.
 */
export function verifyJws(jws: string, roots: TrustedRoots, now: EpochMillis): Readonly<Record<string, unknown>> {
  const [, head, body, signature] = compactJwsPattern.exec(jws) ?? [];
  if (head === undefined || body === undefined || signature === undefined) throw invalidJwsError('it is not a JWS');
  const { x5c } = parseJson(Header, decodePart(head));
  const payload = parseJson(Dates, decodePart(body));
  const at = payload.signedDate ?? payload.receiptCreationDate ?? now;
  const [leaf, intermediate] = x5c.map((certificate) => Buffer.from(certificate, 'base64'));
  if (!leaf || !intermediate) throw invalidJwsError('its certificates are missing');
  const key = verifyCertificateChain({ leaf, intermediate }, roots, at);
  if (!isValidSignature(key, `${head}.${body}`, signature))
    throw invalidJwsError('the signature is not of this content');
  return payload;
}

function isValidSignature(key: KeyObject, content: string, signature: string): boolean {
  const bytes = Buffer.from(signature, 'base64url');
  const isP256 = key.asymmetricKeyDetails?.namedCurve === 'prime256v1';
  // The 64 bytes r||s and nothing else: the same signature in DER is refused.
  return (
    isP256 &&
    bytes.length === signatureBytes &&
    verify('sha256', Buffer.from(content), { key, dsaEncoding: 'ieee-p1363' }, bytes)
  );
}

const decodePart = (part: string): string => Buffer.from(part, 'base64url').toString('utf8');

const invalidJwsError = (reason: string): ServiceError =>
  new ServiceError('InvalidPayload', `The signed data cannot be accepted: ${reason}.`);
