import type { ErrorCode } from './types.ts';

/** A code of the service, or of this package: `InvalidOptions`, `Unreachable`, `InvalidWebhook`, `InvalidToken`. */
export type ClaimcheckErrorCode = ErrorCode | 'InvalidOptions' | 'Unreachable' | 'InvalidWebhook' | 'InvalidToken';

const keepAccess = 'Keep the current access, and try again later.';
const fixes: { readonly [code in ClaimcheckErrorCode]?: string } = {
  InvalidPayload: 'Correct the field that the message names.',
  ConnectionFailed: `A store is unavailable, or there are too many requests. ${keepAccess}`,
  PurchaseExpired: 'Deny access.',
  PurchaseConsumed: 'Deny access.',
  NeedMoreData: 'Deny access, and validate again after the payment.',
  AppNotFound: 'Check `appName` and the key.',
  Conflict: 'If `balance` is set, it does not suffice. Otherwise, use another `idempotencyKey`.',
  Forbidden: 'Check `appName` and the key: reading and spending need the secret key.',
  ResourceNotFound: 'Check the id. A hold that has ended is not found.',
  InvalidOptions:
    'Set it, usually from an environment variable. `url` is the stack output `ApiUrl`, or http://127.0.0.1:4000 with ' +
    '`npm start`. `claimcheck app create` prints the name and the secret key, `app set-webhook` the signing secret.',
  Unreachable: `Check \`url\` and the network. ${keepAccess}`,
  InvalidWebhook: 'Respond with 401. If each webhook fails, check the secret, and pass the body before it is parsed.',
  InvalidToken: 'Respond with 401. The client requests a new token from your server.',
};

/** The error of all functions of this package. */
export class ClaimcheckError extends Error {
  override readonly name = 'ClaimcheckError';
  readonly code: ClaimcheckErrorCode;
  /** HTTP status, or undefined without a response. */
  readonly status: number | undefined;
  /** Units of the credit, if they do not suffice. */
  readonly balance: number | undefined;
  /** Whether a later attempt can succeed. Such an error says nothing about a purchase. */
  readonly isTemporary: boolean;
  /** What to do. */
  readonly fix: string;

  constructor(code: ClaimcheckErrorCode, message: string, status?: number, balance?: number) {
    super(message);
    this.code = code;
    this.status = status;
    this.balance = balance;
    this.isTemporary = status === undefined ? code === 'Unreachable' : status === 429 || status >= 500;
    this.fix = fixes[code] ?? keepAccess;
  }
}
