import type { MerchantState } from './merchant-state.ts';

/** Outcome of a charge: a validation error, a processor decline, a gateway rejection, or success if all are missing. */
export interface NonceVerdict {
  readonly problem?: { readonly code: string; readonly message: string };
  readonly response?: { readonly code: string; readonly text: string };
  readonly rejection?: string;
}

const unknownProblem = { code: '91565', message: 'Unknown or expired payment_method_nonce.' };
const consumedProblem = { code: '91564', message: 'Cannot use a payment_method_nonce more than once.' };
const doNotHonor = { code: '2000', text: 'Do Not Honor' };

/** Checks a nonce of this emulator or a documented test nonce of Braintree. */
export function checkNonce({ pendingOrders, usedNonces }: MerchantState, nonce: string): NonceVerdict {
  if (nonce === 'fake-consumed-nonce' || usedNonces.has(nonce)) return { problem: consumedProblem };
  if (/^fake-processor-declined-[\w-]+-nonce$/.test(nonce)) return { response: doNotHonor };
  const [, rejection] = /^fake-gateway-rejected-([a-z]+)-nonce$/.exec(nonce) ?? [];
  if (rejection !== undefined) return { rejection };
  return pendingOrders.has(nonce) || /^fake-valid-(?:[\w-]+-)?nonce$/.test(nonce) ? {} : { problem: unknownProblem };
}

/** Marks a nonce as used. Test nonces can be reused. */
export function consumeNonce({ usedNonces }: MerchantState, nonce: string): void {
  if (!nonce.startsWith('fake-')) usedNonces.add(nonce);
}
