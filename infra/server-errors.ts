import type { ErrorCode } from '../lib/foundation/errors.ts';

type ServerErrorCode = ErrorCode | 'InvalidOptions' | 'Unreachable' | 'InvalidWebhook' | 'InvalidToken';

const keepAccess = 'Keep the current access, and try again later.';

/** What a server does about an error of the service, or of its package in any language. */
export const errorFixes: Readonly<Record<ServerErrorCode, string>> = {
  InvalidPayload: 'Correct the field that the message names.',
  ConnectionFailed: `A store is unavailable, or there are too many requests. ${keepAccess}`,
  PurchaseExpired: 'Deny access.',
  PurchaseConsumed: 'Deny access.',
  InternalError: keepAccess,
  NeedMoreData: 'Deny access, and validate again after the payment.',
  Unknown: keepAccess,
  AppNotFound: 'Check the app name and the key.',
  Conflict: 'If `balance` is set, it does not suffice. Otherwise, use another idempotency key.',
  Forbidden: 'Check the app name and the key: reading and spending need the secret key.',
  DatabaseError: keepAccess,
  ResourceNotFound: 'Check the id. A hold that has ended is not found.',
  InvalidOptions:
    'Set it, usually from an environment variable. `url` is the stack output `ApiUrl`, or http://127.0.0.1:4000 with ' +
    '`npm start`. `claimcheck app create` prints the name and the secret key, `app set-webhook` the signing secret.',
  Unreachable: `Check \`url\` and the network. ${keepAccess}`,
  InvalidWebhook: 'Respond with 401. If each webhook fails, check the secret, and pass the body before it is parsed.',
  InvalidToken: 'Respond with 401. The client requests a new token from your server.',
};
