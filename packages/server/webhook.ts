import { ClaimcheckError } from './error.ts';
import type { WebhookEvent } from './types.ts';

/** The headers of a `Request`, or of `node:http`. */
type WebhookHeaders =
  | { get(name: string): string | null | undefined }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Verifies a webhook and returns its body. Pass the body before it is parsed: a formatted one has another signature.
 * Several secrets, or several signatures in the header, are valid during a rotation. `toleranceSeconds` is the largest
 * difference of `webhook-timestamp` from the clock (default 300). The comparison takes constant time. Throws
 * `ClaimcheckError` with `InvalidWebhook`. A webhook can arrive twice with the same `webhook-id`.
 */
export async function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string | readonly string[] | undefined,
  { toleranceSeconds = 300 } = {},
): Promise<WebhookEvent> {
  if (typeof body !== 'string' && !(body instanceof Uint8Array))
    throw new ClaimcheckError('InvalidWebhook', 'The body is parsed already. Pass its text or its bytes.');
  const get = (name: string) =>
    String((typeof headers.get === 'function' ? headers.get(name) : Object(headers)[name]) ?? '');
  const timestamp = get('webhook-timestamp');
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(Date.now() / 1_000 - Number(timestamp)) > toleranceSeconds)
    throw new ClaimcheckError('InvalidWebhook', 'The webhook is not signed, or too old.');
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const signed = new TextEncoder().encode(`${get('webhook-id')}.${timestamp}.${text}`);
  for (const one of [secret].flat()) {
    const raw = decodeBase64(String(one ?? '').replace(/^whsec_/, ''));
    if (raw.length === 0) throw new ClaimcheckError('InvalidOptions', 'The secret must be a text such as whsec_….');
    const key = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify']);
    for (const signature of get('webhook-signature').split(' ')) {
      const code = decodeBase64(signature.replace(/^v1,/, ''));
      if (await crypto.subtle.verify('HMAC', key, code, signed)) return JSON.parse(text);
    }
  }
  throw new ClaimcheckError('InvalidWebhook', 'The signature is invalid.');
}

/** Decodes base64 and base64url. Other text is empty. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  if (!/^[\w+/-]*=*$/.test(text) || text.length % 4 === 1) return new Uint8Array();
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0));
}
