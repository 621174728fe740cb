export { Claimcheck, type ClaimcheckOptions } from './claimcheck.ts';
export { ClaimcheckError } from './error.ts';
export { type VerifiedToken, verifyToken } from './token.ts';
export type * from './types.ts';
export { verifyWebhook } from './webhook.ts';
