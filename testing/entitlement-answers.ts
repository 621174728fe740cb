import { decodeJwt } from 'jose';
import type { ContractResponse } from '../lib/api/contract.ts';
import type { IssuedApiKeys } from '../lib/apps/manage-apps.ts';
import { createEntitlementToken, explainAccess, getCustomerEntitlements } from '../lib/entitlements/contract.ts';
import { callWithSecretKey } from './call.ts';
import { readWebhookBody } from './customer-answers.ts';

/** The names of the active entitlements of a customer in each response, sorted. */
export interface EntitlementAnswers {
  /** The response from which the names of `read` are. The page of the customer shows it. */
  readonly response: ContractResponse<typeof getCustomerEntitlements>;
  readonly read: readonly string[];
  readonly webhook: readonly string[];
  readonly token: readonly string[];
  readonly why: readonly string[];
}

/** Reads which of the entitlements a customer has, through the real endpoints and the webhook sender. */
export async function readEntitlementAnswers(
  keys: IssuedApiKeys,
  applicationUsername: string,
  names: readonly string[],
): Promise<EntitlementAnswers> {
  const options = { params: { applicationUsername } };
  const read = await callWithSecretKey(getCustomerEntitlements, keys, options);
  const webhook = await readWebhookBody(keys.appName, applicationUsername);
  const token = await callWithSecretKey(createEntitlementToken, keys, { ...options, body: {} });
  const why: string[] = [];
  for (const entitlement of names) {
    const { body } = await callWithSecretKey(explainAccess, keys, { ...options, query: { entitlement } });
    if (body.isActive) why.push(entitlement);
  }
  const claims = decodeJwt<{ entitlements: Readonly<Record<string, object>> }>(token.body.token);
  return {
    response: read.body,
    read: listActive(read.body.entitlements),
    webhook: listActive(webhook.entitlements ?? {}),
    token: Object.keys(claims.entitlements).sort(),
    why: why.sort(),
  };
}

const listActive = (entitlements: Readonly<Record<string, { readonly isActive: boolean }>>): string[] =>
  Object.keys(entitlements)
    .filter((name) => entitlements[name]?.isActive)
    .sort();
