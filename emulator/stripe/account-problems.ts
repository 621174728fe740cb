import type { EmulatedStore } from '../emulated-store.ts';
import { toResponse } from './api-error.ts';

const apiHost = 'api.stripe.com';

/**
 * Problems of an account at Stripe:
 * - `key-expired`: the secret key has expired after it was rolled.
 * - `no-permission`: the restricted key lacks the permission of each request.
 * - `no-dispute-permission`: the restricted key lacks the permission to read disputes only.
 * - `no-webhook-permission`: the restricted key lacks the permission to read webhook endpoints only.
 *
 * @see https://docs.stripe.com/error-codes#api-key-expired
 * @see https://docs.stripe.com/keys/restricted-api-keys
 */
export const accountProblems: EmulatedStore['accountProblems'] = {
  'key-expired': ({ host }) =>
    host === apiHost
      ? toResponse(401, {
          error: {
            type: 'invalid_request_error',
            code: 'api_key_expired',
            doc_url: 'https://stripe.com/docs/error-codes/api-key-expired',
            message: 'Expired API Key provided: sk_live_****',
          },
        })
      : undefined,
  'no-permission': ({ host }) => (host === apiHost ? missingPermission('rak_plan_read') : undefined),
  'no-dispute-permission': ({ host, path }) =>
    host === apiHost && path.startsWith('/v1/disputes') ? missingPermission('rak_dispute_read') : undefined,
  'no-webhook-permission': ({ host, path }) =>
    host === apiHost && path.startsWith('/v1/webhook_endpoints') ? missingPermission('rak_webhook_read') : undefined,
};

const missingPermission = (name: string) =>
  toResponse(403, {
    error: {
      type: 'invalid_request_error',
      message: `The provided key 'rk_live_****' does not have the required permissions for this endpoint on account 'acct_1emulated'. Having the '${name}' permission would allow this request to continue.`,
    },
  });
