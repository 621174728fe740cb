import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { getKeyId, hashApiKey } from '../../lib/apps/app.ts';
import type { IssuedApiKeys } from '../../lib/apps/manage-apps.ts';
import {
  countAcceptedRequest,
  getRequestBucketSize,
  rejectedReceiptCost,
  requestReportSize,
} from '../../lib/apps/request-limiter.ts';
import { listEvents } from '../../lib/events/event-list-table.ts';
import { getService } from '../../lib/foundation/get-service.ts';
import { verifyPurchase } from '../../lib/openiap/contract.ts';
import { validateReceipt } from '../../lib/validation/contract.ts';
import { type CallResult, callWithPublicKey } from '../../testing/call.ts';
import { startTestService } from '../../testing/service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

const service = startBeforeAll(startTestService);

let keys: IssuedApiKeys;
beforeEach(async () => {
  // Buckets fill with time.
  service.freezeClock();
  jest.spyOn(console, 'warn').mockImplementation(() => {});
  keys = await service.createApp(['store_a', 'store_b']);
});

const attacker = '192.0.2.1';
const unknownPurchase = { store: 'google', purchaseToken: 'unknown-purchase-token-of-google' };
const rejectedBody = { id: 'premium', type: 'paid subscription', transaction: { type: 'ios-appstore', id: '1' } };

/** Takes tokens of an address and a public key, without requests. */
async function takeTokens(tokens: number, address = attacker): Promise<void> {
  const request = {
    appName: keys.appName,
    keyId: getKeyId({ digest: hashApiKey(keys.publicKey) }),
    address,
    requestsPerSecond: undefined,
  };
  for (let count = 0; count < tokens; count += requestReportSize)
    await countAcceptedRequest(getService(), request, requestReportSize);
}

const { capacity } = getRequestBucketSize('request-address');

describe('requireAllowance', () => {
  it('responds to requests above the limit with 429 and Retry-After, and records no event', async () => {
    await takeTokens(capacity + requestReportSize);
    const { status, headers, body } = await callWithPublicKey(validateReceipt, keys, {
      body: rejectedBody,
      sourceIp: attacker,
    });
    // Clients read the body of a failed validation only if the HTTP status is 200.
    expect([status, body.status, body.code, body.message]).toEqual([
      200,
      429,
      6778002,
      'Too many requests. Try again later.',
    ]);
    expect(Number(headers['Retry-After'])).toBeGreaterThan(0);
    expect(headers).toMatchObject({ 'Access-Control-Expose-Headers': 'Retry-After, X-Request-Id' });
    expect(await listEvents(getService(), keys.appName, { limit: 10, skip: 0 })).toEqual([]);
  });

  it.each([
    ['POST /v1/validate', validateReceipt, rejectedBody, ({ body }: CallResult) => body.status, 400],
    ['POST /v1/purchase/verify', verifyPurchase, unknownPurchase, ({ status }: CallResult) => status, 200],
  ])('counts a receipt that %s rejects as ten requests', async (_name, contract, body, getStatus, status) => {
    // A container reports the last tokens of the bucket, and the next report is refused.
    await takeTokens(capacity);
    const call = async () => getStatus(await callWithPublicKey(contract, keys, { body, sourceIp: attacker }));
    const statuses = [];
    for (let number = 0; number < requestReportSize / rejectedReceiptCost; number++) statuses.push(await call());
    expect(new Set(statuses)).toEqual(new Set([status]));
    expect(await call()).toBe(429);
  });
});
